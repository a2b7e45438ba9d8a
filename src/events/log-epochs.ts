/**
 * Which events of the log were appended by which run of the service. Each run takes a random number, its epoch, with its
 * first event. So a client that continues after an event of a lost log, or of one that was put back from a copy, is
 * not given other events with the same numbers.
 */

import { randomInt } from 'node:crypto'
import type { Database, Run } from '../state/database.ts'

export interface LogEpochs {
  /** Called with the number of the next event. The first call returns what stores the epoch, in its transaction. */
  beginAt(id: number): ((run: Run) => void) | null
  /** `e<epoch>-<number>` */
  nameOf(id: number): string
  /** Null for a name of another log, and for a plain number; `0` is before the first event of any log. */
  numberOf(name: string): number | null
  /** Deletes epochs whose events all have smaller numbers. */
  trim(run: Run, upTo: number): void
}

interface Epoch {
  epoch: number
  /** The number of its first event. */
  from: number
}

const KEY = 'event_epoch_'

export function createLogEpochs(database: Database): LogEpochs {
  const rows = database.all<{ name: string; value: string }>(
    `SELECT name, value FROM meta WHERE name LIKE '${KEY}%'`,
  )
  // events of a version without epochs have the epoch 0
  const epochs: Epoch[] = [{ epoch: 0, from: 0 }]
  for (const { name, value } of rows) {
    epochs.push({ epoch: Number(value), from: Number(name.slice(KEY.length)) })
  }
  epochs.sort((a, b) => a.from - b.from)
  let hasBegun = false

  const indexOf = (id: number) => epochs.findLastIndex(({ from }) => from <= id)

  return {
    beginAt(id) {
      if (hasBegun) return null
      hasBegun = true
      const begun = { epoch: randomInt(1, 2 ** 40), from: id }
      epochs.push(begun)
      return (run) =>
        run('INSERT OR REPLACE INTO meta VALUES (?, ?)', KEY + id, String(begun.epoch))
    },
    nameOf: (id) => `e${epochs[indexOf(id)]!.epoch}-${id}`,
    numberOf(name) {
      if (name === '0') return 0
      const [, epoch, number] = /^e(0|[1-9]\d{0,14})-([1-9]\d{0,14})$/.exec(name) ?? []
      const id = Number(number)
      return number !== undefined && epochs[indexOf(id)]?.epoch === Number(epoch) ? id : null
    },
    trim(run, upTo) {
      while (epochs[1] && epochs[1].from <= upTo) {
        const { from } = epochs.shift()!
        run('DELETE FROM meta WHERE name = ?', KEY + from)
      }
    },
  }
}
