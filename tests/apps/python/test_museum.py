"""Public reports of wrong gradients of other engines, rebuilt: costate against independent truths. The cases are
in museum/, the page that shows them is apps/site/museum.md."""
import unittest

import numpy

from museum.cases import CASES
from museum.page import PAGE, written
from museum.table import TOLERANCE, Comparison


class MuseumTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compared = {}

    def rows(self, case):
        """The comparisons of a case, computed once."""
        if case not in self.compared:
            self.compared[case] = case.compare()
        return self.compared[case]

    def test_every_gradient_is_right(self):
        for case in CASES:
            for row in self.rows(case):
                with self.subTest(case.title, source=case.source, what=row.what):
                    self.assertEqual(numpy.shape(row.got), numpy.shape(row.truth))
                    self.assertLess(row.error(), TOLERANCE)

    def test_every_comparison_can_fail(self):
        for case in CASES:
            with self.subTest(case.title):
                self.assertTrue(any(numpy.any(row.truth) for row in self.rows(case)))
            for row in self.rows(case):
                with self.subTest(case.title, what=row.what):
                    # the largest number of the truth, wrong by a millionth
                    wrong = numpy.array(row.truth, float)
                    i = numpy.unravel_index(numpy.abs(wrong).argmax(), wrong.shape)
                    wrong[i] += 1e-6 * (abs(wrong[i]) or 1)
                    self.assertGreater(Comparison(row.what, row.got, wrong).error(), TOLERANCE)
                    self.assertFalse(Comparison(row.what, row.got * numpy.nan, row.truth).error() < TOLERANCE)

    def test_the_page_shows_all_cases(self):
        again = "write it again: python3 -m museum.page in tests/apps/python"
        self.assertEqual(PAGE.read_text(), written(), again)
        self.assertGreaterEqual(len(CASES), 30)
        self.assertEqual(len({case.title for case in CASES}), len(CASES))
