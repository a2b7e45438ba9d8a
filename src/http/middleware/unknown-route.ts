import type { Hono, MiddlewareHandler, NotFoundHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { Refusal } from '../../model/refusal.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import { type ErrorPage, errorResponse } from './error-format.ts'

/** For `app.notFound`. */
export function unknownPath(page?: ErrorPage): NotFoundHandler<ServiceEnv> {
  return (c) => {
    const message = `There is no ${requestLine(c)}. docs/api.md lists all there is.`
    return errorResponse(c, new Refusal('not_found', message), { page })
  }
}

/** 405 with `Allow` where the path exists, but not for this method. */
export function unknownMethod(
  app: Hono<ServiceEnv>,
  page?: ErrorPage,
): MiddlewareHandler<ServiceEnv> {
  return methodNotAllowed({
    app,
    onMethodNotAllowed(c, methods) {
      const allow = methods.toSorted().join(', ')
      const message = `There is no ${requestLine(c)}. This path answers ${allow}.`
      const response = errorResponse(c, new Refusal('method_not_allowed', message), { page })
      response.headers.set('allow', allow)
      return response
    },
  })
}

function requestLine({ req }: ServiceContext): string {
  return `${req.method.slice(0, 20)} ${req.path.slice(0, 200).toWellFormed()}`
}
