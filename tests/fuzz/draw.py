"""A random network from a seed."""

import control
import elementwise
import heavy
import images
import indexing
import quantized
import reductions
import shapes
from graph import Graph, Rejected, np

# Families, and how often each is drawn from.
FAMILIES = [(elementwise.OPS, 5), (shapes.OPS, 4), (reductions.OPS, 3), (heavy.OPS, 5), (images.OPS, 2), (indexing.OPS, 2), (quantized.OPS, 1), (control.OPS, 2)]
OPS = {name: add for family, _ in FAMILIES for name, add in family.items()}
OPSETS = (9, 11, 13, 15, 17, 18, 20, 21, 22, 23, 24)


class Network:
    """A model, its inputs in each world, its outputs there with bounds of their errors."""

    def __init__(self, model, inputs, expected, bounds, errors=None, work=0):
        self.model, self.inputs, self.expected, self.bounds = model, inputs, expected, bounds
        """Bounds of all values in each world; multiply-adds, or elements computed, in all."""
        self.errors, self.work = errors, work

    @property
    def worlds(self):
        return len(self.inputs)


def attempt(g, add):
    """Adds what an operator adds, or nothing."""
    before = len(g.nodes), len(g.values)
    try:
        add(g)
        return True
    except Rejected:
        # Of a pattern cut short, what stands is a network as well; of a node, its operands would be inputs unused.
        if len(g.nodes) == before[0]:
            del g.values[before[1] :]
        return False


def draw(seed, small=False):
    """The network of a seed, or None where nothing could be built."""
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["float32"] * 7 + ["float64", "float16", "int64"]))
    g = Graph(rng, int(rng.choice(OPSETS)), 2 if rng.random() < 0.4 else 1, dtype, 1 << (12 if small else int(rng.choice([10, 13, 16, 18]))))
    # Each operator has its turn.
    names = list(OPS)
    attempt(g, OPS[names[seed % len(names)]])
    weights = np.array([weight for _, weight in FAMILIES]) / sum(weight for _, weight in FAMILIES)
    size = int(rng.choice([1, 2, 3, 4, 6] if small else [1, 2, 4, 6, 8, 12, 16, 24]))
    for _ in range(3 * size):
        if len(g.nodes) >= size:
            break
        attempt(g, pick(g, weights))
    return finish(g)


def pick(g, weights):
    family = list(FAMILIES[int(g.rng.choice(len(FAMILIES), p=weights))][0].values())
    return g.choice(family)


def finish(g):
    computed = [v for v in g.values if v.kind == "node"]
    if not computed:
        return None
    # All that nothing uses, but for some dead code, and some that others use.
    outputs = [v for v in computed if (not v.users and g.chance(0.9)) or g.chance(0.1)] or computed[-1:]
    if g.chance(0.05):
        outputs += [v for v in g.values if v.kind == "input"][:1]
    g.rng.shuffle(outputs)
    inputs = [v for v in g.values if v.kind == "input"]
    return Network(g.model(outputs), [{v.name: v.arrays[w] for v in inputs} for w in range(g.worlds)],
                   [[v.arrays[w] for v in outputs] for w in range(g.worlds)], [[v.errors[w] for v in outputs] for w in range(g.worlds)],
                   {v.name: v.errors for v in g.values}, g.work)

