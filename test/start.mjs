/** Starts a program in TypeScript from its source: `node test/start.mjs <path from the root> [argument...]`. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildPrograms, ROOT } from './build.mjs'

const [, , path] = process.argv
const folder = join(ROOT, `.tap/started-${process.pid}`)
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
await buildPrograms([path], folder)
process.argv.splice(1, 1)
await import(pathToFileURL(join(folder, path.replace(/\.m?[jt]s$/, '.js'))).href)
