"""Run by Alembic: every command works on the connection that it was given."""

from alembic import context

from jeroboam.store.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
