/** Checks the URLs of webhooks: when one is registered, and its addresses again before each delivery. */

import { lookup as resolveName } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AppError } from '../model/app-error.ts'

const MAX_LENGTH = 2000
/** How long a registration waits for DNS; each delivery checks the addresses again. */
const LOOKUP_MS = 5000

export interface Resolved {
  address: string
  family: number
}

/** Returns all addresses of a host name. Rejects with node:dns's code if there are none. */
export type Lookup = (name: string) => Promise<readonly Resolved[]>

/**
 * Parses a receiver's URL. Throws `bad_request` if it is invalid or could never be reached, so that a typo shows at
 * once and not as failed deliveries.
 */
export function parseTarget(text: string): URL {
  const url = /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null || /[\s\p{Cc}\\]/u.test(text)) {
    throw urlError('expected an absolute http or https URL, such as "https://example.com/hook"')
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) {
    throw urlError('expected a URL without a user name or password; receivers check the signature')
  }
  if (text.includes('#')) {
    throw urlError('expected a URL without a fragment ("#"), which is not sent')
  }
  const length = Math.max(text.length, url.href.length)
  if (length > MAX_LENGTH) {
    throw urlError(`expected at most ${MAX_LENGTH} characters; got ${length} after encoding`)
  }
  if (BAD_PORTS.has(portOf(url))) {
    throw urlError(`expected another port; HTTP clients block port ${url.port}`)
  }
  return url
}

interface CheckOptions {
  /** The port where this service listens, once it does. */
  ownPort: number | null
  lookup?: Lookup
}

/**
 * Throws `bad_request` if the host leads to an address that webhooks may not use. Sends nothing to it. An unknown
 * host name is accepted, as the receiver may start later.
 */
export async function checkTarget(
  url: URL,
  { ownPort, lookup = lookupAll }: CheckOptions,
): Promise<void> {
  const host = hostOf(url)
  const found = isIP(host) ? [host] : await lookupWithin(host, lookup)
  requireAllowed(url, found, ownPort)
}

/** Throws `bad_request` for the first address that is denied. */
export function requireAllowed(url: URL, addresses: readonly string[], ownPort: number | null) {
  for (const address of addresses) {
    const why = denialReason(address, portOf(url), ownPort)
    if (why === null) continue
    throw urlError(`expected another host or port; this one resolves to ${address}, ${why}`)
  }
}

/** Uses the system's resolver, like other programs on this machine. */
export const lookupAll: Lookup = (name) => resolveName(name, { all: true })

/** The host without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

async function lookupWithin(name: string, lookup: Lookup): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<[]>((resolve) => {
    timer = setTimeout(resolve, LOOKUP_MS, [])
  })
  try {
    const found = await Promise.race([lookup(name), late])
    return found.map(({ address }) => address)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return []
  } finally {
    clearTimeout(timer)
  }
}

function urlError(message: string): AppError {
  return new AppError('bad_request', `url: ${message}.`, { errors: [{ path: 'url', message }] })
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Returns why an address is denied; null if it is allowed. Loopback and private addresses are allowed, as receivers
 * usually run on this machine or network. Denied are this service itself and the addresses at which cloud machines
 * reveal their credentials (169.254.169.254).
 */
export function denialReason(address: string, port: number, ownPort: number | null): string | null {
  return reasonFor(ipaddr.process(address), port === ownPort)
}

function reasonFor(address: Address, isOwnPort: boolean): string | null {
  const range = ipaddr.subnetMatch(address, DENIED, 'allowed')
  if (range !== 'allowed') return `which is ${range}`
  if (isOwnPort && address.range() === 'loopback') return 'which is this service itself'
  const inside = embedded(address)
  const why = inside && reasonFor(inside, isOwnPort)
  return why && `which contains ${inside}, ${why}`
}

const DENIED = {
  'an unspecified address': ranges('0.0.0.0/8', '::/128'),
  'a link-local address': ranges('169.254.0.0/16', 'fe80::/10'),
  'a multicast address': ranges('224.0.0.0/4', 'ff00::/8'),
  'a broadcast address': ranges('255.255.255.255/32'),
  'a reserved address': ranges('240.0.0.0/4'),
  // besides 169.254.169.254: AWS over IPv6, Alibaba, Oracle
  'a cloud metadata address': ranges('fd00:ec2::254/128', '100.100.100.200/32', '192.0.0.192/32'),
}

function ranges(...texts: string[]): [Address, number][] {
  return texts.map((text) => ipaddr.parseCIDR(text))
}

/** IPv6 prefixes that embed an IPv4 address, and the byte where it begins. */
const EMBEDDING: readonly [[Address, number], number][] = [
  [ipaddr.parseCIDR('64:ff9b::/96'), 12], // NAT64, RFC 6052
  [ipaddr.parseCIDR('64:ff9b:1::/48'), 12], // NAT64 of a local network, RFC 8215
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12], // RFC 6145
  [ipaddr.parseCIDR('::/96'), 12], // RFC 4291 §2.5.5.1
  [ipaddr.parseCIDR('2002::/16'), 2], // 6to4, RFC 3056
]

function embedded(address: Address): Address | null {
  if (address.kind() === 'ipv4' || address.range() === 'loopback') return null
  const found = EMBEDDING.find(([prefix]) => address.match(prefix))
  return found ? ipaddr.fromByteArray(address.toByteArray().slice(found[1], found[1] + 4)) : null
}

/** The blocked ports of the Fetch standard: services that could mistake a request for their own commands. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
])
