import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'

const LENGTH = 32

/** `<salt>:<hash>`, both in hex, to be stored in place of the password. */
export function hashPassword(password, salt = randomBytes(16)) {
  return `${salt.toString('hex')}:${scryptSync(password, salt, LENGTH).toString('hex')}`
}

export function isPassword(password, stored) {
  const [salt, hash] = stored.split(':').map((part) => Buffer.from(part, 'hex'))
  return timingSafeEqual(scryptSync(password, salt, LENGTH), hash)
}
