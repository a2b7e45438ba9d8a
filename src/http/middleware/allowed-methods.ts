import type { Hono, NotFoundHandler } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import { Refusal } from '../../model/refusal.ts'
import type { ServiceEnv } from '../context.ts'
import { problemResponse } from '../problem-json.ts'
import { opensPage, type RefusalPage } from '../refusal-page.ts'

/**
 * For `app.notFound`: 405 with `Allow` where the path answers other methods, else 404. Routes are
 * read at the first miss, so those added after this call count too.
 */
export function unknownRoute(
  app: Hono<ServiceEnv>,
  page?: RefusalPage,
): NotFoundHandler<ServiceEnv> {
  let router: TrieRouter<string> | undefined
  return (c) => {
    router ??= methodsByPath(app)
    const { method, path } = c.req
    const asked = `${method.slice(0, 20)} ${path.slice(0, 200).toWellFormed()}`
    const methods = router.match('ANY', path)[0].map(([name]) => name)
    if (methods.includes('GET')) methods.push('HEAD')
    if (methods.length === 0 || methods.includes(method)) {
      const advice = 'docs/api.md lists all there is.'
      const refusal = new Refusal('not_found', `There is no ${asked}. ${advice}`)
      return page && opensPage(c) ? page(c, refusal) : problemResponse(refusal)
    }
    const allow = [...new Set(methods)].sort().join(', ')
    const advice = `This path answers ${allow}.`
    const refusal = new Refusal('method_not_allowed', `There is no ${asked}. ${advice}`)
    const response = page && opensPage(c) ? page(c, refusal) : problemResponse(refusal)
    response.headers.set('allow', allow)
    return response
  }
}

/** Every path gives the names of its methods. Entries for all methods are middleware, and left out. */
function methodsByPath(app: Hono<ServiceEnv>): TrieRouter<string> {
  const router = new TrieRouter<string>()
  for (const { method, path } of app.routes) {
    if (method !== 'ALL') router.add('ALL', path, method)
  }
  return router
}
