import { caseId, memoryFilename } from '../../http/params.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import type { Routes } from '../deps.ts'
import { loadMemoryPage } from './data.ts'
import { MemoryPage } from './page.tsx'
import { loadRunbook } from './runbook.ts'
import { runbookTemplate } from './runbook-template.ts'

/** The page of a memory file. */
export const memoryRoutes: Routes = ({ service, assets }, get) => {
  get('/case/:id/memory/:file', async (c) => {
    const contents = await service.store.read(caseId(c))
    const name = memoryFilename(c, 'file')
    const data = await loadMemoryPage(service, contents, name)
    const isSource = c.req.query('source') !== undefined
    const isRunbook = name === RUNBOOK_FILE
    const isNew = isRunbook && data.file === null
    return (
      <MemoryPage
        assets={assets}
        contents={contents}
        data={data}
        isSource={isSource}
        runbook={isRunbook ? await loadRunbook(contents, data.file?.text ?? '') : undefined}
        template={isNew ? await runbookTemplate(service, contents) : undefined}
      />
    )
  })
}
