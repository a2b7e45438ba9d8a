import { COMMANDS } from '../src/cli/commands.ts'
import { casefile } from '../src/cli/program.ts'
import { docsPage } from './cli-page.ts'

/** Prints docs/cli.md, for `npm run docs:cli`. */
process.stdout.write(docsPage(casefile({ version: '', sample: '', program: '' }, COMMANDS)))
