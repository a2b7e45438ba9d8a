/** One HTTP request to a receiver, with limits for connection, answer and size. */

import { type Agent, type ClientRequest, type IncomingMessage, request as send } from 'node:http'
import { request as sendSecurely } from 'node:https'
import type { LookupFunction } from 'node:net'

const DRAIN = { bytes: 64 * 1024, ms: 1000 }
/** How much of a response body is stored for troubleshooting. */
const STORED_BYTES = 4096
const MAX_INTERIM = 10
/** Per address of a host with several; node's default of 250 ms is short for a distant one. */
const CONNECT_MS = 3000

export interface Exchange {
  url: URL
  headers: Record<string, string>
  body: Buffer
  lookup: LookupFunction
  /** False for a separate connection. */
  agent: Agent | false
  signal: AbortSignal
}

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  /** The beginning of the body. */
  beginning: Buffer
  /** When its headers arrived, by `performance.now()`. */
  at: number
}

/** No answer. `stale`: a reused connection that the receiver had closed before it saw the request. */
export interface Unanswered {
  failure: Error
  stale: boolean
}

/**
 * Sends one POST. Resolves once its connection is idle or closed; never throws for network failures or for what the
 * receiver does.
 *
 * The answer is decided by its headers: a little of the body is read, and an abort only cuts that short. An abort
 * before the headers is a failure. Redirects are answers like others.
 */
export function exchange(wanted: Exchange): Promise<Answer | Unanswered> {
  const { url, headers, body, lookup, agent, signal } = wanted
  const start = url.protocol === 'https:' ? sendSecurely : send
  const connecting = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_MS }
  return new Promise((resolve) => {
    const request = start(url, { method: 'POST', headers, lookup, agent, ...connecting })
    let answer: Answer | undefined
    let failure: Error | undefined
    const hasData = watchForData(request)
    const onAbort = () => request.destroy()
    request.on('response', (response) => {
      answer = answerOf(response)
      drain(request, response, answer)
    })
    // a receiver that switches protocols has not accepted the event
    request.on('upgrade', (response, socket) => {
      answer = answerOf(response)
      socket.destroy()
    })
    limitInterim(request)
    // after the answer an error concerns the body, which does not matter for the delivery
    request.on('error', (error) => {
      failure ??= error
    })
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      if (answer) return resolve(answer)
      failure ??= errorOf('ECONNRESET', 'closed without an answer')
      resolve({ failure, stale: request.reusedSocket && !hasData() && isReset(failure) })
    })
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    request.end(body)
  })
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  return { status: statusCode, headers, beginning: Buffer.alloc(0), at: performance.now() }
}

/** Reads the beginning of the body. A body that is too long or too slow closes the connection. */
function drain(request: ClientRequest, response: IncomingMessage, answer: Answer): void {
  let bytes = 0
  const timer = setTimeout(() => request.destroy(), DRAIN.ms)
  request.on('close', () => clearTimeout(timer))
  response.on('error', () => {}) // a body that is cut short does not change the answer
  response.on('data', (chunk: Buffer) => {
    const room = STORED_BYTES - answer.beginning.length
    if (room > 0) answer.beginning = Buffer.concat([answer.beginning, chunk.subarray(0, room)])
    bytes += chunk.length
    if (bytes > DRAIN.bytes) request.destroy()
  })
}

/** Limits interim answers (1xx), which a receiver could send forever. */
function limitInterim(request: ClientRequest): void {
  let count = 0
  request.on('information', () => {
    count += 1
    if (count <= MAX_INTERIM) return
    request.destroy(errorOf('TOO_MANY_INTERIM_ANSWERS', `more than ${MAX_INTERIM} interim answers`))
  })
}

/** Returns a function that says whether any data came back. */
function watchForData(request: ClientRequest): () => boolean {
  let hasData = false
  request.on('socket', (socket) => {
    socket.once('data', () => {
      hasData = true
    })
  })
  return () => hasData
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function errorOf(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
