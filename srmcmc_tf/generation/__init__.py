"""What a trained model generates: samples, interpolations, reconstructions.

The defaults are here, for the help of the commands: importing a module of this
package imports TensorFlow, which takes seconds.
"""

SEEDS = range(64)
PAIRS = 8
COLUMNS = 9
IMAGES = 1000
ITERATIONS = 200
RULES = ("descent", "adam")
TASKS = ("whole", "inpaint", "upscale")
MASK = "center"
FACTOR = 4
ATTRACTORS = 1000
