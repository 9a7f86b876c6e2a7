"""The networks that can be asked: one file, or all that a training run has made; loaded when somebody wants them."""

import contextlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from ..model import SHIPPED, Evaluator, load_network, read_description
from ..model.checkpoint import newest_network
from ..training.folder import RunFolder

_KEPT = 3  # evaluators in memory


@dataclass(frozen=True)
class Model:
    """A network by the name that clients use."""

    id: str
    name: str
    trained: bool
    sizes: tuple[int, ...]  # that it was trained for
    path: Path

    def view(self) -> dict[str, object]:
        """As the page reads it."""
        return {"id": self.id, "name": self.name, "trained": self.trained, "sizes": list(self.sizes)}


class Models:
    """All networks of this server. `evaluator` is for the thread that searches, the rest for any."""

    def __init__(self, model: str | None, run: str | None, device: str = "auto", precision: str = "auto") -> None:
        """ValueError or OSError, in one sentence, if there is no such network."""
        self._device, self._precision = device, precision
        self._run = RunFolder(run) if run is not None else None
        self._fixed: list[Model] = []
        if model is None and run is None:
            model = SHIPPED
        if model is not None:
            path = newest_network(model)
            checkpoint = read_description(path)
            name = path.parent.parent.resolve().name if Path(model).is_dir() else path.name.split(".")[0]
            if model == SHIPPED:
                name = "mini-alphago"
            trained = checkpoint.steps != 0
            self._fixed.append(Model(name, name, trained, checkpoint.board_sizes, path))
        self._loaded: OrderedDict[Path, Evaluator] = OrderedDict()

    def all(self) -> list[Model]:
        """All there are, the first being the default; those of a run newest first."""
        if self._run is None:
            return list(self._fixed)
        sizes: tuple[int, ...] = ()
        with contextlib.suppress(ValueError, OSError):  # they can be played all the same
            sizes = (self._run.read_config().board_size,)
        made = [
            Model(model_id(i), f"Iteration {i}", i > 0, sizes if i else (), self._run.checkpoint(i))
            for i in reversed(self._run.iterations())
        ]
        return self._fixed + made

    def find(self, name: str | None) -> Model:
        """The model with this id; None: the default. ValueError if there is none."""
        models = self.all()
        if not models:
            raise ValueError("there is no network yet: the first is there when the run has begun")
        if name is None:
            return models[0]
        for model in models:
            if model.id == name:
                return model
        raise ValueError("there is no such network (any more)")

    def evaluator(self, model: Model) -> Evaluator:
        """The network, ready to be asked; the few that were asked last are kept."""
        if model.path not in self._loaded:
            self._loaded[model.path] = Evaluator(load_network(model.path), self._device, self._precision)
        self._loaded.move_to_end(model.path)
        while len(self._loaded) > _KEPT:
            self._loaded.popitem(last=False)
        return self._loaded[model.path]


def model_id(iteration: int) -> str:
    """The id of a run's network."""
    return f"iteration-{iteration}"
