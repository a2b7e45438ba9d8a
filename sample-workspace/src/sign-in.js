import { isPassword } from './password.js'
import { issueToken, readToken } from './token.js'

/** A token for a user whose password is right, else null. `users` maps names to stored passwords. */
export function signIn(users, { name, password }, key, clock) {
  const stored = users.get(name)
  if (stored === undefined || typeof password !== 'string') return null
  if (!isPassword(password, stored)) return null
  return issueToken(name, key, clock)
}

/** The name of the user who sends this Authorization header, else null. */
export function signedInUser(header, key, clock) {
  const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1]
  return token ? (readToken(token, key, clock)?.sub ?? null) : null
}
