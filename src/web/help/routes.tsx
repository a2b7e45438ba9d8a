import { bytesWithETag } from '../../http/etag.ts'
import { AppError } from '../../model/app-error.ts'
import { renderText } from '../../rendering/markdown/markdown.ts'
import type { Rendered } from '../../rendering/markdown/options.ts'
import type { Routes } from '../deps.ts'
import {
  API_PAGE,
  API_REFERENCE,
  HELP,
  HELP_ANCHORS,
  HELP_PICTURES,
  helpPage,
} from '../shell/addresses.ts'
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
export const helpRoutes: Routes = ({ service, assets }, get, app) => {
  let known: Help | undefined
  const read = () => {
    known ??= readHelp()
    return known
  }

  get(HELP, async () => {
    const help = read()
    const concepts = help.pages.get('concepts')
    return (
      <HelpOverview
        assets={assets}
        help={help}
        concepts={concepts ? await render(concepts, help, 1) : null}
      />
    )
  })

  app.get(API_REFERENCE, (c) => c.redirect(helpPage(API_PAGE)))

  get(helpPage(API_PAGE), async () => {
    const { apiPage } = await import('./api-page.ts')
    const text = apiPage(service)
    const page = { name: API_PAGE, path: '', title: 'API reference' }
    const addresses = { 'openapi.json': '/openapi.json' }
    const rendered = await renderText(text, { addresses, idPrefix: HELP_ANCHORS })
    return <DocPage assets={assets} help={read()} page={page} text={text} rendered={rendered} />
  })

  get(`${HELP}/:name`, async (c) => {
    const help = read()
    const page = help.pages.get(c.req.param('name'))
    if (!page) throw noPage(c.req.path)
    return (
      <DocPage
        assets={assets}
        help={help}
        page={page}
        text={readText(page.path)}
        rendered={await render(page, help, 0)}
      />
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
