import { Hono } from 'hono'
import { type CaseFolder, gateOf, proofOf } from '../../model/case-folder.ts'
import { addItem } from '../../model/decide-case.ts'
import { attachProof, verifyProof } from '../../model/decide-proof.ts'
import type { Counted } from '../../model/proof.ts'
import { Refusal } from '../../model/refusal.ts'
import { countContent, updateCounted } from '../../sessions/count-proof.ts'
import {
  candidateContent,
  MAX_PROOF_CONTENT_BYTES,
  sessionNumberedIn,
} from '../../sessions/proof-candidate.ts'
import { actorOf } from '../actor.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { etagOf, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import { knownQuery, PAGING } from '../middleware/known-query.ts'
import { notWhilePlanning, requireOperator } from '../middleware/require-operator.ts'
import { newestFirst, paginate } from '../pagination.ts'
import { caseId, proofId } from '../params.ts'
import { plainText } from '../plain-text.ts'
import { mustFit, readJson } from '../request-body.ts'
import { checklistItemSchema, newProofSchema, verifySchema } from '../schemas/case.ts'
import { serializeProof, serializeProofHead } from '../serializers.ts'

/** A JSON string may write one byte as two, as it does every line ending. */
const MAX_BODY_BYTES = 2 * MAX_PROOF_CONTENT_BYTES + 1024 * 1024

/** `/cases/:id/proof` (specification §4.3, and what design §4 adds). */
export function proofRoutes(service: HttpDeps): Hono<ServiceEnv> {
  const { store } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', knownQuery('content', ...PAGING), async (c) => {
    const folder = await store.read(caseId(c))
    const all = [...folder.proofs].sort(newestFirst)
    if (!withContent(c.req.query('content'))) {
      return paginate(c, all, { present: async (proof) => serializeProofHead(folder, proof) })
    }
    return paginate(c, all, { present: (proof) => serializeProof(service, folder, proof) })
  })

  app.post('/', notWhilePlanning(service, 'attach proof'), async (c) => {
    const id = caseId(c)
    const wanted = await readJson(c, newProofSchema, { maxBytes: MAX_BODY_BYTES })
    const { artifact, type, session_id } = wanted
    const { content, exit_code, isReport } =
      wanted.content === undefined
        ? await candidateContent(service, id, artifact!, session_id)
        : { content: wanted.content, exit_code: null, isReport: false }
    mustFit('content', content, MAX_PROOF_CONTENT_BYTES, 'Attach the part that proves the point.')
    await service.store.read(id) // an unknown case is refused before anything is counted
    const found = await countContent(content)
    const tests = found.tests ?? (isReport ? { run: 0, passed: 0, failed: 0 } : null)
    const counted = { ...found, tests }
    const proof = { id: service.newId(), type, content, counted, exit_code, session_id }
    const folder = await store.update(
      id,
      (present) =>
        attachProof(
          present,
          { ...proof, ...sessionNumberedIn(artifact, present, session_id) },
          service.now(),
        ),
      { by: await actorOf(service, c) },
    )
    const json = await serializeProof(service, folder, proofOf(folder, proof.id))
    return answerJson(c, json, 201, { location: `/cases/${id}/proof/${proof.id}` })
  })

  app.post('/checklist', notWhilePlanning(service, 'add checklist item'), async (c) => {
    const id = caseId(c)
    const item = await readJson(c, checklistItemSchema)
    const by = await actorOf(service, c)
    const folder = await store.update(id, (present) => addItem(present, item), { by })
    const items = gateOf(folder).items
    return answerJson(c, items.at(-1), 201, { location: `/cases/${id}/proof/checklist` })
  })

  // also the checklist: with a path of its own, hono's fast router could not be used for any path
  app.get('/:pid', async (c) => {
    const folder = await store.read(caseId(c))
    if (c.req.param('pid') === 'checklist') return jsonWithETag(c, gateOf(folder).items)
    return jsonWithETag(c, await serializeProof(service, folder, proofOf(folder, proofId(c))))
  })

  app.get('/:pid/content', async (c) => {
    const folder = await store.read(caseId(c))
    const { content } = await serializeProof(service, folder, proofOf(folder, proofId(c)))
    return plainText(c, new TextEncoder().encode(content))
  })

  app.put('/:pid/verify', requireOperator(service, 'verify'), async (c) => {
    const [id, pid] = [caseId(c), proofId(c)]
    const { accept = null } = await readJson(c, verifySchema)
    const hash = () => service.catalog.entry(id)?.proofs.get(pid)?.hash
    await matching(service, c, await store.read(id), pid)
    const matched = hash()
    const change = (present: CaseFolder, counted: Counted) => {
      if (c.req.header('if-match') !== undefined && hash() !== matched) throw changedMeanwhile()
      return verifyProof(present, pid, { counted, accept, now: service.now() })
    }
    const by = await actorOf(service, c)
    const folder = await updateCounted(service, id, pid, change, by)
    return jsonWithETag(c, await serializeProof(service, folder, proofOf(folder, pid)))
  })

  return app
}

/** Lists of large proofs can be had without what is in them. */
function withContent(query: string | undefined): boolean {
  if (query === undefined || query === 'true') return true
  if (query === 'false') return false
  const message = `expected true or false; got ${JSON.stringify(query.slice(0, 60))}`
  throw new Refusal('bad_request', `content: ${message}.`, {
    errors: [{ path: 'content', message }],
  })
}

function changedMeanwhile(): Refusal {
  return new Refusal(
    'precondition_failed',
    'The proof changed meanwhile. Read it again and decide again.',
  )
}

/** Holds the request to If-Match on the proof as a GET would show it now. */
async function matching(service: HttpDeps, c: ServiceContext, folder: CaseFolder, pid: string) {
  const json = await serializeProof(service, folder, proofOf(folder, pid))
  requireMatch(c, etagOf(jsonBody(json)))
}
