import { Hono } from 'hono'
import type { ServiceEnv } from '../../http/context.ts'
import { caseId, memoryFilename } from '../../http/params.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import type { PageDeps } from '../deps.ts'
import { pageHeaders, pageResponse } from '../shell/page-response.ts'
import { loadMemoryPage } from './data.ts'
import { MemoryPage } from './page.tsx'
import { loadRunbook } from './runbook.ts'
import { runbookTemplate } from './runbook-template.ts'

/** The page of a memory file. */
export function memoryRoutes({ service, assets }: PageDeps): Hono<ServiceEnv> {
  const app = new Hono<ServiceEnv>()

  app.get('/case/:id/memory/:file', pageHeaders(), async (c) => {
    const contents = await service.store.read(caseId(c))
    const name = memoryFilename(c, 'file')
    const data = await loadMemoryPage(service, contents, name)
    const isSource = c.req.query('source') !== undefined
    const isRunbook = name === RUNBOOK_FILE
    const isNew = isRunbook && data.file === null
    return pageResponse(
      c,
      <MemoryPage
        assets={assets}
        contents={contents}
        data={data}
        isSource={isSource}
        runbook={isRunbook ? await loadRunbook(contents, data.file?.text ?? '') : undefined}
        template={isNew ? await runbookTemplate(service, contents) : undefined}
      />,
    )
  })
  return app
}
