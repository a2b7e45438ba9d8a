#!/usr/bin/env node
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Before anything else is loaded. Node's own default is below the temporary folder, where others may write: who can
// write compiled code there has it run.
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const compileCache = module as typeof module & { enableCompileCache?: (folder: string) => unknown }
compileCache.enableCompileCache?.(join(cache, 'casefile')) // Node 22 and later

const { main } = await import('./main.ts')
void main(fileURLToPath(import.meta.url)) // not awaited: Node would add a warning of its own where it never ends
