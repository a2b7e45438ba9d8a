import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/**
 * The environment of every route. Trap: under `app.request()` there is no node server, so the
 * bindings are absent and `c.env` itself may be undefined, which Hono's types do not say.
 */
export interface ServiceEnv {
  Bindings: Partial<HttpBindings>
}

export type ServiceContext = Context<ServiceEnv>
