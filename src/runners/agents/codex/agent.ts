import type { AgentFolder } from '../agent-folder.ts'
import { codexDialect } from './hooks.ts'
import { codexHooks } from './install.ts'
import { codex } from './run.ts'

export const folder: AgentFolder = { run: codex, hooks: codexDialect, install: codexHooks }
