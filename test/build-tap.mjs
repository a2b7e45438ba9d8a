/**
 * Builds tap with the plugins of .taprc, once after an installation: npm runs it, and test/run.mjs where npm ran no scripts.
 * tap would do it by itself, but too late for the files that it runs then. Without tap there is nothing to build.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url))
const CLASS = join(MODULES, '@tapjs/test/test-built/dist/esm/index.js')
if (existsSync(CLASS) && readFileSync(CLASS, 'utf8').includes('@tapjs/typescript')) {
  const stdio = ['ignore', 'ignore', 'inherit']
  execFileSync(process.execPath, [join(MODULES, 'tap/dist/esm/run.mjs'), 'build'], { stdio })
}
