import type { ServiceContext } from '../../http/context.ts'
import { caseId, proofId } from '../../http/params.ts'
import { serializeProof, serializeSession } from '../../http/serializers.ts'
import { AppError } from '../../model/app-error.ts'
import { proofOf } from '../../model/case-contents.ts'
import { outOfScopeFiles } from '../../model/scope.ts'
import { readPatch } from '../../rendering/diff/patch.ts'
import type { Routes } from '../deps.ts'
import { isShownAsDiff } from '../proof/proof-view.tsx'
import { loadChanges } from '../session/changed-files.tsx'
import { findSession } from '../session/find-session.ts'
import { changesPage, pathTo, proofPage, sessionPage } from '../shell/addresses.ts'
import { type Changes, ChangesPage, diffLayout, showAsked } from './page.tsx'

/** A page with the diff of a session or of a proof. `?file=<id>` shows one file with all of its lines. */
export const changesRoutes: Routes = ({ service, assets }, get) => {
  get('/case/:id/session/:number/changes', async (c) => {
    const contents = await service.store.read(caseId(c))
    const session = findSession(contents, c.req.param('number'))
    const { candidates } = await serializeSession(service, contents, session)
    const patch = await loadChanges(service, session, candidates)
    if (!patch) throw new AppError('not_found', `Session ${session.number} has no diff here.`)
    const page = sessionPage(contents.case.id, session.number)
    return respond(c, page, {
      patch,
      outside: new Set(outOfScopeFiles(session.trail)),
      above: [
        ...pathTo(contents.case.id, contents.case.title),
        { href: page, text: `Session ${session.number}` },
      ],
    })
  })

  get('/case/:id/proof/:pid/changes', async (c) => {
    const contents = await service.store.read(caseId(c))
    const proof = proofOf(contents, proofId(c))
    const { content } = await serializeProof(service, contents, proof)
    if (!isShownAsDiff(content)) throw new AppError('not_found', 'This proof is not a diff.')
    const page = proofPage(contents.case.id, proof.id)
    return respond(c, page, {
      patch: readPatch(content),
      outside: new Set(),
      above: [...pathTo(contents.case.id, contents.case.title), { href: page, text: 'Proof' }],
    })
  })

  async function respond(c: ServiceContext, page: string, changes: Changes) {
    const layout = diffLayout(c.req.query('diff'))
    const diff = await showAsked(changes, { layout, file: c.req.query('file') ?? null })
    if (!diff) throw new AppError('not_found', 'The diff has no such file.')
    const address = changesPage(page)
    return <ChangesPage assets={assets} changes={changes} diff={diff} address={address} />
  }
}
