import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * What no webhook may be sent to, and why; null for an allowed address. Services of this machine and
 * of its networks are the normal receivers, so loopback and private addresses are allowed; this
 * service itself is not, and no address by which hosts reveal their credentials (169.254.169.254).
 */
export function whyDenied(address: string, port: number, ownPort: number | null): string | null {
  return denialOf(ipaddr.process(address), port === ownPort)
}

function denialOf(address: Address, isOwnPort: boolean): string | null {
  const range = ipaddr.subnetMatch(address, DENIED, 'allowed')
  if (range !== 'allowed') return `which is ${range}`
  if (isOwnPort && address.range() === 'loopback') return 'which is this service itself'
  const inside = embedded(address)
  const why = inside && denialOf(inside, isOwnPort)
  return why && `which stands for ${inside}, ${why}`
}

const DENIED = {
  'an unspecified address': ranges('0.0.0.0/8', '::/128'),
  'a link-local address': ranges('169.254.0.0/16', 'fe80::/10'),
  'a multicast address': ranges('224.0.0.0/4', 'ff00::/8'),
  'a broadcast address': ranges('255.255.255.255/32'),
  'a reserved address': ranges('240.0.0.0/4'),
  // besides 169.254.169.254: AWS over IPv6, Alibaba, Oracle
  'where a cloud machine reveals its credentials': ranges(
    ...['fd00:ec2::254/128', '100.100.100.200/32', '192.0.0.192/32'],
  ),
}

function ranges(...texts: string[]): [Address, number][] {
  return texts.map((text) => ipaddr.parseCIDR(text))
}

/** IPv6 prefixes before an IPv4 address, and the byte where that begins. */
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
