"""What a worker that is not the chief does: updates, and no files."""

import logging

from srmcmc_tf.distribution import strategies
from srmcmc_tf.training import session as sessions
from srmcmc_tf.training.session import Restored, Session

logger = logging.getLogger(__name__)


def attempt(session: Session) -> None:
    """Trains from the chief's state to the end, or until a divergence."""
    config = session.config
    with session.strategy.scope():
        model = sessions.build(session)
        strategies.share_state(model)
    restored = Restored(
        *strategies.broadcast_from_chief(session.strategy, None)
    )
    branch = sessions.branch(session, restored, model)
    guard = sessions.guard(session, restored, branch)
    callbacks = [*sessions.first(config, guard), session.stop]
    sessions.fit(session, model, branch, callbacks)
    logger.info(
        "update %s of %s; the chief has written all files",
        f"{model.update:,}",
        f"{config.updates:,}",
    )
