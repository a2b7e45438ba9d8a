import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { bytesWithETag } from '../../http/etag.ts'
import { AppError } from '../../model/app-error.ts'
import { renderText } from '../../rendering/markdown/markdown.ts'
import type { Rendered } from '../../rendering/markdown/options.ts'
import type { PageDeps } from '../deps.ts'
import {
  API_PAGE,
  API_REFERENCE,
  HELP,
  HELP_ANCHORS,
  HELP_PICTURES,
  helpPage,
} from '../shell/addresses.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import {
  addressesFrom,
  type Help,
  type HelpPage,
  pictureType,
  readHelp,
  readPicture,
  readText,
} from './data.ts'
import { DocPage, HelpOverview } from './page.tsx'

/** The docs of the package, as pages of the console. */
export function helpRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()
  let known: Help | undefined
  const read = () => {
    known ??= readHelp()
    return known
  }

  app.get(HELP, pageHeaders(), async (c) => {
    const help = read()
    const concepts = help.pages.get('concepts')
    return pageResponse(
      c,
      <HelpOverview
        assets={assets}
        help={help}
        concepts={concepts ? await render(concepts, help, 1) : null}
      />,
    )
  })

  app.get(API_REFERENCE, (c) => c.redirect(helpPage(API_PAGE)))

  app.get(helpPage(API_PAGE), pageHeaders(), async (c) => {
    const { apiPage } = await import('./api-page.ts')
    const text = apiPage(service)
    const page = {
      name: API_PAGE,
      path: '',
      title: 'API reference',
    }
    const addresses = { 'openapi.json': '/openapi.json' }
    const rendered = await renderText(text, { addresses, idPrefix: HELP_ANCHORS })
    return pageResponse(
      c,
      <DocPage assets={assets} help={read()} page={page} text={text} rendered={rendered} />,
    )
  })

  app.get(`${HELP}/:name`, pageHeaders(), async (c) => {
    const help = read()
    const page = help.pages.get(c.req.param('name'))
    if (!page) throw noPage(c.req.path)
    return pageResponse(
      c,
      <DocPage
        assets={assets}
        help={help}
        page={page}
        text={readText(page.path)}
        rendered={await render(page, help, 0)}
      />,
    )
  })

  app.get(`${HELP_PICTURES}/:name`, (c) => {
    const path = read().pictures.get(c.req.param('name'))
    if (path === undefined) throw noPage(c.req.path)
    const response = bytesWithETag(c, readPicture(path), pictureType(path))
    response.headers.set('content-security-policy', PICTURE_POLICY)
    response.headers.set('cache-control', 'max-age=3600')
    return response
  })

  return app
}

/** Lets a drawing use its inline styles, and nothing else. */
const PICTURE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

function render(page: HelpPage, help: Help, headingShift: number): Promise<Rendered | null> {
  return renderText(readText(page.path), {
    addresses: addressesFrom(page, help),
    idPrefix: HELP_ANCHORS,
    headingShift,
  })
}

function noPage(path: string): AppError {
  return new AppError('not_found', `There is no help page at ${path}.`)
}
