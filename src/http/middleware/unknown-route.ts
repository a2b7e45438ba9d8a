import type { Hono, NotFoundHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { AppError } from '../../model/app-error.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import { type ErrorPage, errorResponse } from './error-format.ts'

/** There is no endpoint and no page at a path. */
export class UnknownRoute extends AppError {
  readonly path: string

  constructor(line: string, path: string) {
    super('not_found', `There is no ${line}. /docs lists all endpoints.`)
    this.path = path
  }
}

/** For `app.notFound`: 405 with `Allow` if the path exists for other methods, else 404. */
export function unknownRoute(app: Hono<ServiceEnv>, page?: ErrorPage): NotFoundHandler<ServiceEnv> {
  const checkMethod = methodNotAllowed({
    app,
    async onMethodNotAllowed(c, methods) {
      const allow = methods.toSorted().join(', ')
      const message = `There is no ${requestLine(c)}. This path supports ${allow}.`
      const response = await errorResponse(c, new AppError('method_not_allowed', message), { page })
      response.headers.set('allow', allow)
      return response
    },
  })
  return async (c) => {
    await checkMethod(c, async () => {
      const error = new UnknownRoute(requestLine(c), pathOf(c))
      c.res = await errorResponse(c, error, { page })
    })
    return c.res
  }
}

function requestLine(c: ServiceContext): string {
  return `${c.req.method.slice(0, 20)} ${pathOf(c)}`
}

function pathOf({ req }: ServiceContext): string {
  return req.path.slice(0, 200).toWellFormed()
}
