import type { ServiceContext } from '../../http/context.ts'
import { caseId } from '../../http/params.ts'
import { AppError } from '../../model/app-error.ts'
import { isArtifactOf } from '../../runners/output/artifacts.ts'
import type { Routes } from '../deps.ts'
import { findSession } from '../session/find-session.ts'
import { logPage } from '../shell/addresses.ts'
import { nextError, openLog } from './data.ts'
import { LogPage, type LogQuery, loadLogPage } from './page.tsx'

/** `/case/:id/session/:number/log/:artifact`: a log or a report, with numbers and colours. */
export const logRoutes: Routes = ({ service, assets }, get) => {
  get(
    '/case/:id/session/:number/log/:artifact',
    async (c) => {
      const contents = await service.store.read(caseId(c))
      const session = findSession(contents, c.req.param('number'))
      const artifact = c.req.param('artifact')
      const source = isArtifactOf(artifact, session.number)
        ? await openLog({ layout: service.layout, caseId: contents.case.id, artifact })
        : null
      if (!source) throw notHere(session.number, artifact)
      const query = queryOf(c)
      if (query.errorAfter !== null) {
        const line = await nextError(source, query.errorAfter)
        const address = logPage(contents.case.id, session.number, artifact)
        if (line !== null) return c.redirect(`${address}?line=${line}#L${line}`)
      }
      const data = await loadLogPage({ service, contents, session, source, query })
      return <LogPage data={data} assets={assets} />
    },
    'self',
  )
}

function notHere(number: number, artifact: string): AppError {
  const name = JSON.stringify(artifact.slice(0, 120).toWellFormed())
  return new AppError(
    'not_found',
    `Session ${number} has no output ${name} on this machine. Logs stay on the machine that made them.`,
  )
}

function queryOf(c: ServiceContext): LogQuery {
  const number = (name: string) => {
    const text = c.req.query(name) ?? ''
    return /^\d{1,9}$/.test(text) ? Number(text) : null
  }
  return {
    line: number('line'),
    page: number('page') || null,
    errorAfter: number('error-after'),
    filter: (c.req.query('filter') ?? '').slice(0, 200),
    view: c.req.query('view') === 'raw' ? 'raw' : c.req.query('view') === 'tests' ? 'tests' : null,
  }
}
