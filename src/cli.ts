#!/usr/bin/env node
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Set before anything else is loaded. The default of Node is in the temporary folder, where
// other users could write compiled code that we would run.
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const compileCache = module as typeof module & { enableCompileCache?: (folder: string) => unknown }
compileCache.enableCompileCache?.(join(cache, 'casefile')) // Node 22 and later

const { main } = await import('./main.ts')
void main(fileURLToPath(import.meta.url)) // not awaited: Node would add its own warning if it never settles
