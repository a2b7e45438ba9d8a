/**
 * Ends what a run left when its service dies. Its arguments are the run's id, and the id and start of each program that was
 * started for it.
 */

import { killRun } from './kill-run.ts'

const [runId = '', ...programs] = process.argv.slice(2)
const processes = programs.map((each) => {
  const [pid, start = ''] = each.split(':')
  return { pid: Number(pid), start: decodeURIComponent(start) || null }
})
await killRun({ runId, processes }, 0)
