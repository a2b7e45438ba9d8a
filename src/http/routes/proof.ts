import * as z from 'zod'
import { AppError } from '../../model/app-error.ts'
import { type CaseContents, gateOf, proofOf } from '../../model/case-contents.ts'
import { addItem } from '../../model/decide-case.ts'
import { attachProof, verifyProof } from '../../model/decide-proof.ts'
import { MAX_PICTURE_BYTES, PICTURE_TYPES, pictureFacts } from '../../model/picture.ts'
import type { Counted } from '../../model/proof.ts'
import {
  candidateContent,
  countContent,
  countPicture,
  impliedSession,
  MAX_PROOF_CONTENT_BYTES,
  updateCounted,
} from '../../sessions/proof-content.ts'
import { actorOf } from '../actor.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { created, endpoint, FILE_ERRORS, LIST_ERRORS, listOf, ok } from '../endpoint.ts'
import { bytesWithETag, jsonWithETag, matchUntilWritten } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { newestFirst, paginate } from '../pagination.ts'
import { harmless, plainText } from '../plain-text.ts'
import { mustFit, readBytes } from '../request-body.ts'
import { type GateItemJson, gateItem } from '../schemas/case.ts'
import { checklistItemSchema } from '../schemas/checklist.ts'
import { caseIdParam, proofIdParam, RESOLVED } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { listedProof, newProofSchema, pictureQuery, proof, verifySchema } from '../schemas/proof.ts'
import { content, paging } from '../schemas/query.ts'
import { serializeProof, serializeProofHead } from '../serializers.ts'

/** JSON may write one byte as two, such as every line ending. */
const MAX_BODY_BYTES = 2 * MAX_PROOF_CONTENT_BYTES + 1024 * 1024

const NEW_PROOF = {
  ...exampleOf(proof),
  id: '553295e4-b848-4ee7-81c3-0a0c86a5b731',
  case_id: exampleOf(caseIdParam),
  session_id: null,
  type: 'test-log',
  content: 'ok 1 - a token is accepted at once\n1..1\n',
  verified: false,
  verified_at: null,
  tests: {
    run: 1,
    passed: 1,
    failed: 0,
  },
  sha256: 'e8d874e75004b3a33f4522cd456f524ba3d8636a0c2f1645357df76db6fe6e97',
  created_at: '2026-11-21T09:00:00.000Z',
  updated_at: '2026-11-21T09:00:00.000Z',
}

const ofCase = { id: caseIdParam }
const ofProof = { ...ofCase, pid: proofIdParam }

export const proofEndpoints = [
  endpoint({
    route: 'GET /cases/:id/proof',
    id: 'listProofs',
    tag: 'Proof',
    summary: 'List the proofs of a case',
    description:
      'Includes their contents, unless the request has `content=false`. Without `limit` you get the whole list; with it, the header `Link` has the next page.',
    params: ofCase,
    query: { ...paging, content },
    responses: listOf(listedProof, 'Proofs, newest first.'),
    errors: LIST_ERRORS,
    example: { params: RESOLVED },
    async handle({ c, service, params, query }) {
      const contents = await service.store.read(params.id)
      const all = [...contents.proofs].sort(newestFirst)
      return query.content === 'false'
        ? paginate({ c, query }, all, {
            serialize: async (each) => serializeProofHead(contents, each),
          })
        : paginate({ c, query }, all, {
            serialize: (each) => serializeProof(service, contents, each),
          })
    },
  }),

  endpoint({
    route: 'POST /cases/:id/proof',
    id: 'attachProof',
    tag: 'Proof',
    summary: 'Attach proof to a case',
    description:
      'Requires either `content` or `artifact`, the name of a candidate of a session. With the type null, or an artifact without `type`, a diff is `diff`, a test report or the log of a test step `test-log`, a picture `screenshot`, and other text `log`; another type than that counts only if the operator accepts it with a reason. If it is a test report, its tests are counted; a report with failures does not count as proof. Without `session_id`, the proof belongs to the session of the artifact, or else to the newest complete session that has no proof. With null, it belongs to no session. The body may also be a picture (PNG, JPEG, WebP or GIF), with `type` and `session_id` in the query.',
    params: ofCase,
    query: pictureQuery,
    body: newProofSchema,
    otherBodies: PICTURE_TYPES.map((type) => ({
      type,
      description: 'The bytes of a picture, at most 10 MiB.',
    })),
    hasOtherBody: hasPicture,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: created(proof, 'The proof, not yet verified.'),
    errors: [...FILE_ERRORS, 'wrong_state'],
    example: { responses: { 201: NEW_PROOF } },
    notWhilePlanning: 'attach proof',
    async handle({ c, service, params: { id }, query, body }) {
      if (hasPicture(c)) return attachPicture(c, service, id, query)
      const { artifact, type, session_id } = body
      const { content, exit_code, isReport, named } =
        body.content === undefined
          ? await candidateContent(service, id, artifact!, session_id)
          : { content: body.content, exit_code: null, isReport: false, named: null }
      mustFit('content', content, MAX_PROOF_CONTENT_BYTES, 'Attach the part that proves the point.')
      await service.store.read(id) // throws for an unknown case, before anything is counted
      const found = await countContent(content)
      const tests = found.tests ?? (isReport ? { run: 0, passed: 0, failed: 0 } : null)
      const counted = { ...found, tests }
      const added = {
        id: service.newId(),
        type: type ?? named,
        content,
        artifact,
        picture: null,
        counted,
        exit_code,
        session_id,
      }
      const contents = await service.store.update(
        id,
        (present) =>
          attachProof(
            present,
            { ...added, ...impliedSession(artifact, present, session_id) },
            service.now(),
          ),
        { by: await actorOf(service, c) },
      )
      const json = await serializeProof(service, contents, proofOf(contents, added.id))
      return answerJson(c, json, 201, { location: `/cases/${id}/proof/${added.id}` })
    },
  }),

  endpoint({
    route: 'POST /cases/:id/proof/checklist',
    id: 'addChecklistItem',
    tag: 'Proof',
    summary: 'Add an item to the checklist',
    description:
      'A required item keeps the gate closed until a proof of its type is verified. Fails if the item already exists.',
    params: ofCase,
    body: checklistItemSchema,
    responses: created(gateItem, 'The item.'),
    errors: [...FILE_ERRORS, 'already_exists'],
    example: {
      responses: {
        201: {
          ...exampleOf(gateItem),
          description: 'Signed in with two browsers',
          type: 'log',
        },
      },
    },
    notWhilePlanning: 'add checklist item',
    async handle({ c, service, params: { id }, body }) {
      const added = { ...body, required: body.required ?? false }
      const by = await actorOf(service, c)
      const contents = await service.store.update(id, (present) => addItem(present, added), { by })
      const item: GateItemJson = gateOf(contents).items.at(-1)!
      return answerJson(c, item, 201, { location: `/cases/${id}/proof/checklist` })
    },
  }),

  endpoint({
    route: 'GET /cases/:id/proof/checklist',
    mountAt: '/cases/:id/proof/:pid',
    id: 'listChecklistItems',
    tag: 'Proof',
    summary: 'List the checklist of a case',
    description: 'Returns the items as the gate has them.',
    params: ofCase,
    responses: ok(z.array(gateItem), 'The items.'),
    async handle({ c, service, params }) {
      const { items } = gateOf(await service.store.read(params.id))
      return jsonWithETag<readonly GateItemJson[]>(c, items)
    },
  }),

  endpoint({
    route: 'GET /cases/:id/proof/:pid',
    id: 'getProof',
    tag: 'Proof',
    summary: 'Get a proof',
    description:
      'Includes its content. If the content changes after it was verified, the proof is no longer verified.',
    params: ofProof,
    responses: ok(proof, 'The proof.'),
    example: { params: RESOLVED },
    async handle({ c, service, params: { id, pid } }) {
      const contents = await service.store.read(id)
      return answerProof(c, service, contents, pid)
    },
  }),

  endpoint({
    route: 'GET /cases/:id/proof/:pid/content',
    id: 'getProofContent',
    tag: 'Proof',
    summary: 'Get the content of a proof alone',
    description: 'Returns the text, or the bytes of a picture with their content type.',
    params: ofProof,
    responses: {
      200: {
        description: 'The content.',
        bytes: [
          { type: 'text/plain; charset=utf-8', description: 'The content, as it was sent.' },
          ...PICTURE_TYPES.map((type) => ({ type, description: 'The bytes, as they were sent.' })),
        ],
        headers: ['ETag', 'Content-Security-Policy'],
      },
    },
    errors: ['unreadable_file'],
    example: { params: RESOLVED, responses: { 200: exampleOf(proof).content } },
    async handle({ c, service, params: { id, pid } }) {
      const contents = await service.store.read(id)
      const found = proofOf(contents, pid)
      if (!found.image) {
        const { content } = await serializeProof(service, contents, found)
        return plainText(c, new TextEncoder().encode(content))
      }
      const bytes = await service.texts.picture(id, found.image)
      const type = pictureFacts(bytes)?.type
      if (type) return harmless(bytesWithETag(c, bytes, type))
      throw new AppError(
        'unreadable_file',
        `artifacts/${found.image.name} is no picture any more. Restore the file, or attach the picture again.`,
      )
    },
  }),

  endpoint({
    route: 'PUT /cases/:id/proof/:pid/verify',
    id: 'verifyProof',
    tag: 'Proof',
    summary: 'Mark a proof as verified',
    description:
      'Verifies its present content; a later change removes the verification. A proof with failures does not open the gate, even when verified, unless `accept` gives a reason.',
    params: ofProof,
    body: verifySchema,
    isBodyOptional: true,
    isConditional: true,
    responses: ok(proof, 'The updated proof.'),
    errors: [...FILE_ERRORS, 'bad_request'],
    example: {
      params: RESOLVED,
      responses: { 200: { ...exampleOf(proof), accepted: 'It was tried by hand as well.' } },
    },
    operatorOnly: 'verify',
    async handle({ c, service, params: { id, pid }, body: { accept = null } }) {
      const read = await service.store.read(id)
      const json = await serializeProof(service, read, proofOf(read, pid))
      const hash = () => service.catalog.entry(id)?.proofs.get(pid)?.hash
      const mustMatch = matchUntilWritten(c, json, { noun: 'proof', hash })
      const by = await actorOf(service, c)
      const change = (present: CaseContents, counted: Counted) => {
        mustMatch()
        return verifyProof(present, pid, { counted, accept, by: by.who, now: service.now() })
      }
      const contents = await updateCounted(service, id, pid, change, by)
      return answerProof(c, service, contents, pid)
    },
  }),
]

/** Whether the body is declared to be a picture, of whatever type. */
function hasPicture(c: ServiceContext): boolean {
  return /^\s*image\//i.test(c.req.header('content-type') ?? '')
}

interface PictureQuery {
  type?: string | undefined
  session_id?: string | undefined
}

async function attachPicture(
  c: ServiceContext,
  service: HttpDeps,
  id: string,
  { type, session_id }: PictureQuery,
): Promise<Response> {
  const bytes = await readBytes(c, MAX_PICTURE_BYTES)
  const proofId = service.newId()
  const counted = countPicture(proofId, bytes)
  mustBePicture(c.req.header('content-type') ?? '', counted)
  const added = {
    id: proofId,
    type: type ?? null,
    content: '',
    picture: bytes,
    counted,
    exit_code: null,
    session_id: session_id === 'none' ? null : session_id,
  }
  const change = (present: CaseContents) => attachProof(present, added, service.now())
  const contents = await service.store.update(id, change, { by: await actorOf(service, c) })
  const json = await serializeProof(service, contents, proofOf(contents, proofId))
  return answerJson(c, json, 201, { location: `/cases/${id}/proof/${proofId}` })
}

/** Throws unless the bytes are a picture of the type that the header names. */
function mustBePicture(contentType: string, counted: Counted | null): asserts counted is Counted {
  const declared = contentType.split(';')[0]!.trim().toLowerCase()
  const came = counted?.image?.type
  if (came !== undefined && (came === declared || declared === 'image/*')) return
  const accept = PICTURE_TYPES.join(', ')
  const message = declared.startsWith('image/svg')
    ? 'SVG is text, not a picture: attach it as the content of a JSON body.'
    : came === undefined
      ? `The body is declared as ${JSON.stringify(declared.slice(0, 100))}, but its bytes are not a PNG, JPEG, WebP or GIF picture.`
      : `The body is declared as ${JSON.stringify(declared.slice(0, 100))}, but it is ${came}. Send it with that content type.`
  throw new AppError('unsupported_media_type', message, { extra: { accept } })
}

async function answerProof(
  c: ServiceContext,
  service: HttpDeps,
  contents: CaseContents,
  pid: string,
): Promise<Response> {
  return jsonWithETag(c, await serializeProof(service, contents, proofOf(contents, pid)))
}
