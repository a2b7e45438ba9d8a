import { parentPort, workerData } from 'node:worker_threads'
import { makeShare, type Share } from '../workspace/kept/made-cases.ts'
import { layoutOf } from '../workspace/layout.ts'
import { toldOfCase } from './told-marks.ts'

/** A thread that reads cases for a start, beside others (made-cases.ts). */
const share: Share = workerData
const layout = layoutOf(share.root, share.memoryRoot)
for (const cases of makeShare(share, layout, toldOfCase)) {
  if (cases.length > 0) parentPort!.postMessage(cases)
}
parentPort!.postMessage([])
