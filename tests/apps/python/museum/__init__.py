"""The museum of wrong gradients: public reports of wrong, zero, NaN or exploding gradients of other engines,
rebuilt as small scenes. `museum.cases.CASES` is the table, `museum.page` writes apps/site/museum.md from it, and
test_museum.py checks both."""
