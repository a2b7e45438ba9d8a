import { COMMANDS } from './commands.ts'
import { docsPage } from './docs-page.ts'
import { casefile } from './program.ts'

/** Prints docs/cli.md, for `npm run docs:cli`. */
process.stdout.write(docsPage(casefile({ version: '', sample: '', program: '' }, COMMANDS)))
