import type { IncomingMessage, ServerResponse } from 'node:http'
import { newCase, updateCase } from '../model/decide-case.ts'
import type { Actor } from '../model/history.ts'
import { UUID } from '../model/words.ts'
import { actorIn } from './actor.ts'
import { MAX_JSON_BYTES } from './body.ts'
import { newFields, wantedFields } from './case-fields.ts'
import { etagOf } from './etag.ts'
import { USUAL_HEADERS } from './guard.ts'
import { jsonBody } from './json-body.ts'
import { parseJsonObject } from './json-text.ts'
import type { HttpNeeds } from './needs.ts'
import { planningRuns } from './operator-only.ts'
import { lengthOfPlainWrite } from './plain-write.ts'
import { caseText } from './present.ts'
import { logFault, problemJson } from './problem-json.ts'
import type { AnswersFirst } from './ready-answers.ts'
import { caseFieldsSchema, newCaseSchema } from './schemas.ts'
import { parseFields } from './zod-issues.ts'

interface Answer {
  status: number
  headers: string[]
  json: string
}

const ALL = '/cases'
const ONE = '/cases/'
const JSON_TYPE = ['content-type', 'application/json']

/**
 * Carries out the two writes that come most often, a new case and a change of one, without the app: to a plain
 * request goes what that would answer, with the same headers. Every other request is the app's.
 */
export function readyWrites(service: HttpNeeds, port: () => number): AnswersFirst {
  const { store, eventLog } = service

  async function created(body: Record<string, unknown>, by: Actor): Promise<Answer> {
    const fields = newFields(parseFields(newCaseSchema, body))
    const folder = await store.create(newCase(fields, service.newId(), service.now()), by)
    const headers = ['location', `/cases/${folder.case.id}`, ...JSON_TYPE]
    return { status: 201, headers, json: caseText(service, folder) }
  }

  async function changed(id: string, body: Record<string, unknown>, by: Actor): Promise<Answer> {
    const fields = wantedFields(parseFields(caseFieldsSchema, body))
    const folder = await store.update(id, (present) => updateCase(present, fields), { by })
    const json = caseText(service, folder)
    return { status: 200, headers: ['etag', etagOf(json), ...JSON_TYPE], json }
  }

  /** As the app does it: nothing is changed while events cannot be kept, and those of a change are on the disk before its answer. */
  async function answerTo(incoming: IncomingMessage, bytes: Buffer): Promise<Answer> {
    const { method, url = '', headers } = incoming
    const path = { method: method ?? '', path: url }
    try {
      if (eventLog.failure) await eventLog.flushed()
      const work = async () => {
        const body = parseJsonObject(bytes)
        const by = await actorIn(service, headers)
        return method === 'POST' ? created(body, by) : changed(url.slice(ONE.length), body, by)
      }
      const answer = await work().catch((error: unknown) => refusal(path, error))
      await eventLog.flushed()
      return answer
    } catch (error) {
      return refusal(path, error)
    }
  }

  function refusal(path: { method: string; path: string }, error: unknown): Answer {
    logFault(service.log, path, error)
    const problem = problemJson(error)
    const headers = ['content-type', 'application/problem+json']
    return { status: problem.status, headers, json: jsonBody(problem) }
  }

  return (incoming, outgoing, otherwise) => {
    const { method, url = '' } = incoming
    const isWrite = method === 'POST' ? url === ALL : method === 'PUT' && namesCase(url)
    // while a session plans, the app finds out who sends this
    const isReady = isWrite && planningRuns(service).length === 0
    const length = isReady ? lengthOfPlainWrite(incoming, port(), MAX_JSON_BYTES) : null
    if (length === null) {
      otherwise()
      return
    }
    collect(incoming, async (bytes) => send(outgoing, await answerTo(incoming, bytes)))
  }
}

function namesCase(url: string): boolean {
  return url.startsWith(ONE) && UUID.test(url.slice(ONE.length))
}

/** Of a body that does not come whole nobody waits for an answer. */
function collect(incoming: IncomingMessage, onWhole: (bytes: Buffer) => Promise<void>): void {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => void onWhole(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
  incoming.on('error', () => {})
}

function send(outgoing: ServerResponse, { status, headers, json }: Answer): void {
  const length = Buffer.byteLength(json)
  const all = [...headers, 'content-length', String(length), ...USUAL_HEADERS.flat()]
  // goes out in one piece with the head; and as it is, where each character is one byte
  outgoing.writeHead(status, all).end(json, json.length === length ? 'latin1' : 'utf8')
}
