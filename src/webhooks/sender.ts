/** Sends one delivery and reports how the attempt ended. `receiver.ts` decides whether and when to retry. */

import { setMaxListeners } from 'node:events'
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Attempt } from '../model/delivery.ts'
import { type Answer, exchange } from './exchange.ts'
import { describeFailure, parseOutcome } from './outcome.ts'
import { hostOf, type Lookup, lookupAll, parseTarget, requireAllowed } from './targets.ts'

/** One request to a receiver. */
export interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Aborts the request; then the promise rejects, and the attempt does not count as failed. */
  signal: AbortSignal
}

export interface Sender {
  /** Never rejects for failures of the receiver or the network; the attempt describes those. */
  send(post: Post): Promise<Attempt>
  /** Closes the idle connections. */
  close(): void
}

/** Connections are reused. An idle one does not keep the process alive. */
const AGENT_OPTIONS = { keepAlive: true, maxFreeSockets: 5, timeout: 30_000 }

export interface SenderOptions {
  /** The service's own port; null before it listens. */
  ownPort: () => number | null
  version: string
  /** For the whole attempt: DNS lookup, connection, TLS and answer. */
  timeoutMs?: number
  lookup?: Lookup
}

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs = 15_000 } = options
  const agents = { http: new Agent(AGENT_OPTIONS), https: new SecureAgent(AGENT_OPTIONS) }
  return {
    async send(post) {
      post.signal.throwIfAborted()
      const at = new Date().toISOString()
      const began = performance.now()
      const attempt = (outcome: Omit<Attempt, 'at' | 'ms'>, end = performance.now()): Attempt => ({
        at,
        ms: Math.round(end - began),
        ...outcome,
      })
      const timeout = abortAfter(post.signal, timeoutMs)
      try {
        const url = parseTarget(post.url)
        const answer = await request(url, post, timeout.signal)
        return attempt(parseOutcome(answer, url), answer.at)
      } catch (failure) {
        post.signal.throwIfAborted()
        const late = `no answer within ${timeoutMs / 1000} s`
        const error = timeout.isLate() ? late : describeFailure(failure)
        return attempt({ status: null, error, retry_after_ms: null })
      } finally {
        timeout.clear()
      }
    },
    close() {
      for (const { freeSockets } of Object.values(agents)) {
        for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
      }
    },
  }

  async function request(url: URL, { headers, body }: Post, signal: AbortSignal): Promise<Answer> {
    // an IP address needs no lookup, so it is checked here
    const host = hostOf(url)
    if (isIP(host)) requireAllowed(url, [host], options.ownPort())
    const wanted = {
      url,
      body,
      signal,
      lookup: checkedLookup(url, options),
      headers: {
        ...headers,
        'content-type': headers['content-type'] ?? 'application/json',
        'content-length': String(body.length),
        'user-agent': `Casefile/${options.version}`,
      },
    }
    const agent = url.protocol === 'https:' ? agents.https : agents.http
    const first = await exchange({ ...wanted, agent })
    if ('status' in first) return first
    if (!first.stale || signal.aborted) throw first.failure
    const second = await exchange({ ...wanted, agent: false })
    if ('status' in second) return second
    throw second.failure
  }
}

/**
 * Returns a DNS lookup that checks all addresses of a host before it hands them to the connection. Each connection
 * looks up the host only once, so DNS rebinding has no effect.
 */
function checkedLookup(
  url: URL,
  { ownPort, lookup = lookupAll }: Pick<SenderOptions, 'ownPort' | 'lookup'>,
): LookupFunction {
  const checked = async (name: string) => {
    const found = await lookup(name)
    // for an empty list node throws an error that cannot be caught
    if (found.length === 0) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
    const addresses = found.map(({ address }) => address)
    requireAllowed(url, addresses, ownPort())
    return [...found]
  }
  // `autoSelectFamily` needs all addresses
  return (name, _, callback) => {
    checked(name).then(
      (found) => callback(null, found),
      (error) => callback(error, []),
    )
  }
}

/** Returns a signal that aborts with `signal` or after `timeoutMs`. */
function abortAfter(signal: AbortSignal, timeoutMs: number) {
  const ending = new AbortController()
  let late = false
  const onAbort = () => ending.abort()
  const timer = setTimeout(() => {
    late = true
    ending.abort()
  }, timeoutMs)
  setMaxListeners(0, signal) // one signal may abort any number of requests
  signal.addEventListener('abort', onAbort)
  return {
    signal: ending.signal,
    isLate: () => late,
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
