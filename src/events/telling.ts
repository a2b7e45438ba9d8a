import type { Maker } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { Keeper } from '../workspace/kept/keeper.ts'
import type { EventLog } from '../workspace/log/event-log.ts'
import type { Teller } from './teller.ts'

/** When changes are told: not before what changed while no service ran. */
export interface Telling {
  /** A case may have changed. */
  changed(caseId: string, maker: Maker, wrote?: readonly string[]): void
  /** Tells what changed while no service ran, then each change as it comes; resolves when that is on the disk. */
  begin(problems: readonly Problem[]): Promise<void>
}

interface TellingNeeds {
  teller: Teller
  catalog: Pick<Catalog, 'ids' | 'kept'>
  keeper: Pick<Keeper, 'early' | 'begin'>
  eventLog: Pick<EventLog, 'isNew' | 'forgetMarks' | 'flushed'>
  /** A person or git may have asked for something by a change of a file. */
  onHandEdit(caseId: string): void
}

export function createTelling(needs: TellingNeeds): Telling {
  const { teller, catalog, keeper, eventLog, onHandEdit } = needs
  let hasBegun = false

  return {
    changed(caseId, maker, wrote) {
      if (!hasBegun) {
        keeper.early(caseId)
        return
      }
      teller.tell(caseId, maker, wrote)
      if (maker !== 'service') onHandEdit(caseId)
    },
    async begin(problems) {
      if (eventLog.isNew) teller.beginHere(problems)
      else teller.tellAway(problems)
      hasBegun = true
      keeper.begin()
      eventLog.forgetMarks()
      await eventLog.flushed()
      for (const id of catalog.ids()) if (!catalog.kept(id)) onHandEdit(id)
    },
  }
}
