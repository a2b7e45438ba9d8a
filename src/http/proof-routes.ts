import { Hono } from 'hono'
import { contentHash } from '../markdown/proof-file.ts'
import { gateOf, proofOf } from '../model/case-folder.ts'
import { addItem } from '../model/decide-case.ts'
import { attachProof, sessionForProof, verifyProof } from '../model/decide-proof.ts'
import { Refusal } from '../model/refusal.ts'
import { readArtifact } from '../workspace/artifacts.ts'
import { readJson } from './body.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import { etagOf, jsonWithETag, requireMatch } from './etag.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst, page } from './page.ts'
import { caseId, proofId } from './params.ts'
import { proofJson } from './present.ts'
import { checklistItemSchema, newProofSchema } from './schemas.ts'

const MIB = 1024 * 1024
const MAX_CONTENT_BYTES = 10 * MIB
/** A JSON string may write one byte as two, as it does every line ending. */
const MAX_BODY_BYTES = 2 * MAX_CONTENT_BYTES + MIB

/** `/cases/:id/proof` (specification §4.3, and what design §4 adds). */
export function proofRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const { store } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', async (c) => {
    const folder = await store.read(caseId(c))
    const all = await Promise.all(folder.proofs.map((proof) => proofJson(service, proof)))
    return page(c, all.sort(newestFirst))
  })

  app.post('/', async (c) => {
    const id = caseId(c)
    const wanted = await readJson(c, newProofSchema, { maxBytes: MAX_BODY_BYTES })
    const { artifact, type, session_id } = wanted
    const content = wanted.content ?? (await candidate(service, id, artifact!, session_id))
    if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
      throw new Refusal(
        'too_large',
        'The content is over 10 MiB. Attach the part that proves the point.',
      )
    }
    const proof = { id: service.newId(), type, content, sha256: contentHash(content), session_id }
    const folder = await store.update(id, (present) =>
      attachProof(
        present,
        { ...proof, ...sessionOfArtifact(present, artifact, session_id) },
        service.now(),
      ),
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
    const folder = await store.update(id, (present) => addItem(present, item))
    const items = gateOf(folder).items
    return c.json(items.at(-1), 201, { location: `/cases/${id}/proof/checklist` })
  })

  app.get('/:pid', async (c) => {
    const folder = await store.read(caseId(c))
    return jsonWithETag(c, await proofJson(service, proofOf(folder, proofId(c))))
  })

  app.put('/:pid/verify', async (c) => {
    const [id, pid] = [caseId(c), proofId(c)]
    const present = proofOf(await store.read(id), pid)
    await matching(service, c, present)
    const folder = await store.update(id, (now) => verifyProof(now, pid, service.now()))
    return jsonWithETag(c, await proofJson(service, proofOf(folder, pid)))
  })

  return app
}

async function matching(
  service: HttpNeeds,
  c: ServiceContext,
  proof: Parameters<typeof proofJson>[1],
) {
  const json = await proofJson(service, proof)
  requireMatch(c, etagOf(new TextEncoder().encode(JSON.stringify(json))))
}

type Folder = Parameters<typeof attachProof>[0]

/** The session that lists this artifact among its candidates is the one that the proof is for. */
function sessionOfArtifact(
  folder: Folder,
  artifact: string | undefined,
  wanted: string | null | undefined,
) {
  if (artifact === undefined || wanted !== undefined) return {}
  const number = Number(artifact.split('-')[0])
  const session = folder.sessions.find((each) => each.number === number)
  return session ? { session_id: session.id } : {}
}

/** The content of a session's candidate; a name that no session lists is refused. */
async function candidate(
  service: HttpNeeds,
  id: string,
  artifact: string,
  wanted: string | null | undefined,
): Promise<string> {
  const folder = await service.store.read(id)
  const implied = sessionOfArtifact(folder, artifact, wanted).session_id ?? wanted
  const session = sessionForProof(folder, implied ?? undefined)
  const record = session && service.catalog.entry(id)?.sessions.get(session.number)
  const texts = record ? await service.texts.session(id, record) : null
  const names = texts?.value?.candidates.map((each) => each.artifact) ?? []
  if (session && names.includes(artifact)) {
    const content = await readArtifact(service.layout, id, artifact, MAX_CONTENT_BYTES)
    if (content !== null) return content
    throw elsewhere(artifact, session.number)
  }
  const known = names.length
    ? `expected one of ${names.join(', ')}`
    : 'that session has no candidates'
  throw new Refusal(
    'bad_request',
    `"${artifact.slice(0, 80)}" is no candidate of a finished session.`,
    {
      errors: [{ path: 'artifact', message: `got "${artifact.slice(0, 80)}", ${known}` }],
    },
  )
}

/** Artifacts are not in git, so a clone has the sessions that list them and not the files. */
function elsewhere(artifact: string, number: number): Refusal {
  return new Refusal(
    'bad_request',
    `Session ${number} lists ${artifact}, but the file is not here: artifacts stay on the machine that made them. Send the text as content.`,
    { errors: [{ path: 'artifact', message: `${artifact} is not in artifacts/ on this machine` }] },
  )
}
