import type { AgentFolder } from '../agent-folder.ts'
import { opencodeDialect } from './hooks.ts'
import { opencodeHooks } from './install.ts'
import { opencode } from './run.ts'

export const folder: AgentFolder = { run: opencode, hooks: opencodeDialect, install: opencodeHooks }
