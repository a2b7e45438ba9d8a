import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import { hashPassword } from './password.js'
import { signedInUser, signIn } from './sign-in.js'

/** POST /sign-in {name, password} answers {token}; GET /me with it answers {name}. Else 401. */
export function makeServer({ users, key, clock }) {
  return createServer(async (request, response) => {
    const answer = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify(body)}\n`)
    }
    switch (`${request.method} ${request.url}`) {
      case 'POST /sign-in': {
        const token = signIn(users, await readJson(request), key, clock)
        return token ? answer(200, { token }) : answer(401, { error: 'wrong name or password' })
      }
      case 'GET /me': {
        const name = signedInUser(request.headers.authorization, key, clock)
        return name ? answer(200, { name }) : answer(401, { error: 'not signed in' })
      }
      default:
        return answer(404, { error: 'not found' })
    }
  })
}

async function readJson(request) {
  const chunks = await request.toArray()
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) ?? {}
  } catch {
    return {}
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const users = new Map([['ada', hashPassword('analytical')]])
  const server = makeServer({ users, key: randomBytes(32) })
  server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}`)
  })
}
