import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { hashPassword } from '../src/password.js'
import { makeServer } from '../src/server.js'

const users = new Map([['ada', hashPassword('analytical')]])
const server = makeServer({ users, key: 'a key for the tests' })
let base

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${server.address().port}`
})
after(() => server.close())

const signIn = (body) => fetch(`${base}/sign-in`, { method: 'POST', body: JSON.stringify(body) })

test('signing in and asking who I am gives my name', async () => {
  const { token } = await (await signIn({ name: 'ada', password: 'analytical' })).json()
  const me = await fetch(`${base}/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(me.status, 200)
  assert.deepEqual(await me.json(), { name: 'ada' })
})

test('asking who I am without signing in is 401', async () => {
  assert.equal((await fetch(`${base}/me`)).status, 401)
})

test('signing in with a wrong password is 401', async () => {
  assert.equal((await signIn({ name: 'ada', password: 'guess' })).status, 401)
})

test('any other address is 404', async () => {
  assert.equal((await fetch(`${base}/users`)).status, 404)
})
