import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword } from '../src/password.js'
import { signedInUser, signIn } from '../src/sign-in.js'

const key = 'a key for the tests'
const noon = Date.UTC(2026, 10, 20, 12)
const minutesLater = (minutes) => () => noon + minutes * 60_000
const users = new Map([['ada', hashPassword('analytical')]])
const ada = { name: 'ada', password: 'analytical' }
const bearer = () => `Bearer ${signIn(users, ada, key, minutesLater(0))}`

test('the right password is recognised and a wrong one is not', () => {
  assert.equal(isPassword('analytical', users.get('ada')), true)
  assert.equal(isPassword('Analytical', users.get('ada')), false)
})

test('two users with one password have different hashes', () => {
  assert.notEqual(hashPassword('analytical'), hashPassword('analytical'))
})

test('a wrong password gives no token', () => {
  assert.equal(signIn(users, { ...ada, password: 'guess' }, key), null)
})

test('an unknown name gives no token', () => {
  assert.equal(signIn(users, { ...ada, name: 'eve' }, key), null)
})

test('who has signed in is known by name', () => {
  assert.equal(signedInUser(bearer(), key, minutesLater(0)), 'ada')
})

test('who has signed in is still known 14 minutes later', () => {
  assert.equal(signedInUser(bearer(), key, minutesLater(14)), 'ada')
})

test('who has signed in must sign in again 15 minutes later', () => {
  assert.equal(signedInUser(bearer(), key, minutesLater(15)), null)
})

test('a header that is missing or of another kind names nobody', () => {
  assert.equal(signedInUser(undefined, key), null)
  assert.equal(signedInUser('Basic YWRhOmFuYWx5dGljYWw=', key), null)
})
