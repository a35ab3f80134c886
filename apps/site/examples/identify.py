import numpy

import costate

model = costate.Model("box_slide_identification")  # starts 50 % too high and too low
truth = model.parameters
truth[model.parameter_names.index("bodies/box/mass")] = 2
truth[model.parameter_names.index("shapes/box/friction")] = 0.3

random, noise, recordings = numpy.random.default_rng(0), {"box/along": 1e-3}, []
for force in (12, 16, 20):  # three pulls, measured every 10 ms to a millimetre
    u = numpy.zeros((100, 1))
    u[:50] = force
    batch = costate.Batch(model, 1, threads=1, substeps=10)
    batch.set_parameters(truth)
    states, _ = batch.rollout(batch.state()[0], u[:, None])
    measured = states[:, 0, 0] + 1e-3 * random.normal(size=100)
    recordings.append(costate.Recording(0.01 * numpy.arange(1, 101), {"box/along": measured}, u=u))

unknowns = [costate.Unknown("bodies/box/mass", "log"), costate.Unknown("shapes/box/friction", "log")]
found = costate.identify(model, recordings[:2], unknowns, noise, substeps=10, threads=1)
kept_out = costate.evaluate(model, recordings[2:], noise, found.parameters, substeps=10, threads=1)
print(found)
print(f"the third pull: misfit {kept_out.misfit:.2f} of the noise")
assert (abs(found.values - [2, 0.3]) < 4 * found.standard_errors).all() and kept_out.misfit < 1.3
