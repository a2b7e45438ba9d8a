import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import t from 'tap'
import { endpointsOf } from '../../src/http/endpoints.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { isFull } from '../fixtures/full.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** Programs of others, with a package.json of their own: they are for this file alone. */
const TOOLS = fileURLToPath(new URL('../api-tools/', import.meta.url))
const isThere = existsSync(join(TOOLS, 'node_modules', 'openapi-fetch'))
/** What .ci/run could not install, as a whole at least, it says. */
const why =
  process.env.API_TOOLS_MISSING ||
  (!isThere && 'not installed: npm ci --prefix test/api-tools --ignore-scripts')
const options = why ? { skip: why } : {}

const documentOf = (dev: boolean) =>
  JSON.stringify(
    openApiDocument(endpointsOf({ dev }), { build: { version: '1.0.0', commit: null } }),
  )

t.test(
  'Redocly has nothing to say of the description, its examples included',
  options,
  async (t) => {
    const folder = t.testdir({ 'openapi.json': documentOf(true) })
    const program = join(TOOLS, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js')
    const file = join(folder, 'openapi.json')
    const config = ['--config', join(TOOLS, 'redocly.yaml'), '--format', 'json']
    const child = spawn(process.execPath, [program, 'lint', file, ...config], {
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [said, complained] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text))
    const [code] = await once(child, 'close')
    t.equal(code, 0, said + complained)
    t.match(JSON.parse(said), { totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] })
  },
)

const fullOnly = isFull ? options : { skip: 'five seconds of compiling: in npm run test:long' }

t.test('a client with types made of the description compiles, and works', fullOnly, async (t) => {
  const folder = await makeTypes(documentOf(false))
  t.equal(await compileErrors('client.ts'), '')
  const client = join(folder, 'client.mjs')
  const source = readFileSync(join(TOOLS, 'client.ts'), 'utf8')
  writeFileSync(client, transformSync(source, { loader: 'ts' }).code)
  const { useTheApi } = await import(pathToFileURL(client).href)
  const { url } = await openTestService(t)
  t.strictSame(await useTheApi(url), {
    state: 'BLOCKED',
    titles: ['Typed'],
    code: 'proof_gate',
    missing: 1,

    notes: '# Notes\n',
    deleted: true,
    total: '1',
  })
})

/** As the package `casefile-api`, from which the client imports them; returns its folder. */
async function makeTypes(document: string): Promise<string> {
  const made = pathToFileURL(join(TOOLS, 'node_modules', 'openapi-typescript', 'dist', 'index.mjs'))
  const { default: openapiTS, astToString } = await import(made.href)
  const folder = join(TOOLS, 'node_modules', 'casefile-api')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "casefile-api", "types": "index.d.ts" }')
  writeFileSync(join(folder, 'index.d.ts'), astToString(await openapiTS(document)))
  return folder
}

/** What the compiler prints; the client is compiled as somebody else would compile theirs. */
async function compileErrors(file: string): Promise<string> {
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const rest = [
    '--ignoreConfig',
    '--noEmit',
    '--skipLibCheck',
    '--types',
    '',
    '--lib',
    'es2022,dom',
  ]
  const target = ['--target', 'es2022', '--module', 'nodenext']
  const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  const args = [compiler, file, ...strict, ...rest, ...target]
  const run = promisify(execFile)(process.execPath, args, { cwd: TOOLS })
  return (await run.catch((error) => error)).stdout
}
