import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a sign-in lasts, in seconds. */
export const LIFETIME = 15 * 60

/**
 * A signed token that says who signed in and until when. `iat` and `exp` are seconds since 1970,
 * as RFC 7519 has them; `clock` gives milliseconds, as Date.now does.
 */
export function issueToken(user, key, clock = Date.now) {
  const issuedAt = Math.floor(clock() / 1000)
  const claims = { sub: user, iat: issuedAt, exp: issuedAt + LIFETIME }
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${payload}.${sign(payload, key)}`
}

/** The claims of a token that we signed and that has not expired, else null. */
export function readToken(token, key, clock = Date.now) {
  const [payload, signature, ...rest] = token.split('.')
  if (!payload || !signature || rest.length > 0) return null
  if (!sameText(signature, sign(payload, key))) return null
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return hasExpired(claims, clock()) ? null : claims
}

function hasExpired(claims, now) {
  return claims.exp <= now
}

function sign(payload, key) {
  return createHmac('sha256', key).update(payload).digest('base64url')
}

function sameText(a, b) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
