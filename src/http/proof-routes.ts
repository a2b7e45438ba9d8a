import { Hono } from 'hono'
import { contentHash } from '../markdown/proof-file.ts'
import { type CaseFolder, gateOf, proofOf } from '../model/case-folder.ts'
import { addItem } from '../model/decide-case.ts'
import { attachProof, verifyProof } from '../model/decide-proof.ts'
import { Refusal } from '../model/refusal.ts'
import {
  candidateContent,
  MAX_PROOF_CONTENT_BYTES,
  sessionNumberedIn,
} from '../sessions/proof-candidate.ts'
import { actorOf } from './actor.ts'
import { mustFit, readJson } from './body.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import { etagOf, jsonWithETag, requireMatch } from './etag.ts'
import type { HttpNeeds } from './needs.ts'
import { operatorOnly } from './operator-only.ts'
import { newestFirst, page } from './page.ts'
import { caseId, proofId } from './params.ts'
import { plainText } from './plain-text.ts'
import { proofJson } from './present.ts'
import { checklistItemSchema, newProofSchema } from './schemas.ts'

/** A JSON string may write one byte as two, as it does every line ending. */
const MAX_BODY_BYTES = 2 * MAX_PROOF_CONTENT_BYTES + 1024 * 1024

/** `/cases/:id/proof` (specification §4.3, and what design §4 adds). */
export function proofRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const { store } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', async (c) => {
    const folder = await store.read(caseId(c))
    const all = [...folder.proofs].sort(newestFirst)
    return page(c, all, { present: (proof) => proofJson(service, proof) })
  })

  app.post('/', async (c) => {
    const id = caseId(c)
    const wanted = await readJson(c, newProofSchema, { maxBytes: MAX_BODY_BYTES })
    const { artifact, type, session_id } = wanted
    const content = wanted.content ?? (await candidateContent(service, id, artifact!, session_id))
    mustFit('content', content, MAX_PROOF_CONTENT_BYTES, 'Attach the part that proves the point.')
    const proof = { id: service.newId(), type, content, sha256: contentHash(content), session_id }
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
    const json = await proofJson(service, proofOf(folder, proof.id))
    return c.json(json, 201, { location: `/cases/${id}/proof/${proof.id}` })
  })

  app.get('/checklist', async (c) => {
    return jsonWithETag(c, gateOf(await store.read(caseId(c))).items)
  })

  app.post('/checklist', async (c) => {
    const id = caseId(c)
    const item = await readJson(c, checklistItemSchema)
    const by = await actorOf(service, c)
    const folder = await store.update(id, (present) => addItem(present, item), { by })
    const items = gateOf(folder).items
    return c.json(items.at(-1), 201, { location: `/cases/${id}/proof/checklist` })
  })

  app.get('/:pid', async (c) => {
    const folder = await store.read(caseId(c))
    return jsonWithETag(c, await proofJson(service, proofOf(folder, proofId(c))))
  })

  app.get('/:pid/content', async (c) => {
    const proof = proofOf(await store.read(caseId(c)), proofId(c))
    return plainText(c, new TextEncoder().encode((await proofJson(service, proof)).content))
  })

  app.put('/:pid/verify', operatorOnly(service, 'verify'), async (c) => {
    const [id, pid] = [caseId(c), proofId(c)]
    const hash = () => service.catalog.entry(id)?.proofs.get(pid)?.hash
    await matching(service, c, proofOf(await store.read(id), pid))
    const matched = hash()
    const change = (present: CaseFolder) => {
      if (c.req.header('if-match') !== undefined && hash() !== matched) throw changedMeanwhile()
      return verifyProof(present, pid, service.now())
    }
    const folder = await store.update(id, change, { by: await actorOf(service, c) })
    return jsonWithETag(c, await proofJson(service, proofOf(folder, pid)))
  })

  return app
}

function changedMeanwhile(): Refusal {
  return new Refusal(
    'precondition_failed',
    'The proof changed meanwhile. Read it again and decide anew.',
  )
}

/** Holds the request to If-Match on the proof as a GET would show it now. */
async function matching(
  service: HttpNeeds,
  c: ServiceContext,
  proof: Parameters<typeof proofJson>[1],
) {
  const json = await proofJson(service, proof)
  requireMatch(c, etagOf(new TextEncoder().encode(JSON.stringify(json))))
}
