import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueToken, LIFETIME, readToken } from '../src/token.js'

const key = 'a key for the tests'
const noon = Date.UTC(2026, 10, 20, 12)
const after = (seconds) => () => noon + seconds * 1000
const token = issueToken('ada', key, after(0))

test('a token is accepted as soon as it is issued', () => {
  assert.equal(readToken(token, key, after(0))?.sub, 'ada')
})

test('a token is accepted until the last second of its lifetime', () => {
  assert.equal(readToken(token, key, after(LIFETIME - 1))?.sub, 'ada')
})

test('a token says when it was issued and when it expires, in seconds', () => {
  const claims = JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString())
  assert.deepEqual(claims, { sub: 'ada', iat: noon / 1000, exp: noon / 1000 + 900 })
})

test('a token is refused when its lifetime is over', () => {
  assert.equal(readToken(token, key, after(LIFETIME)), null)
})

test('a token is refused when it was signed with another key', () => {
  assert.equal(readToken(token, 'another key', after(0)), null)
})

test('a token is refused when its payload was changed', () => {
  const forged = Buffer.from(JSON.stringify({ sub: 'eve', exp: 9e15 })).toString('base64url')
  assert.equal(readToken(`${forged}.${token.split('.')[1]}`, key, after(0)), null)
})

for (const text of ['', '.', 'no-dot', 'a.b.c', `${token}.more`]) {
  test(`"${text.length > 9 ? 'three parts' : text}" is no token`, () => {
    assert.equal(readToken(text, key, after(0)), null)
  })
}
