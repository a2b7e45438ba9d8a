/** The process that owns the memory root; null if it has not answered. */
type Owner = { pid: number; short?: unknown; unrecorded?: unknown; stopped?: unknown } | null

/** A command ends by itself, but that may take a while on a busy machine. */
const COMMAND_MS = 15_000
/** How long a service may take to answer or to end. */
const SERVICE_MS = 5000

/** Whether the owner is certainly a service; a command would end by itself. */
export function isService(owner: Owner): boolean {
  return owner !== null && owner.short !== true && owner.unrecorded !== true
}

/**
 * Returns a function that says whether a start should keep waiting for the current owner to end. The time of each
 * owner counts from when it was first seen, so that commands may follow one another. An owner that does not answer
 * may be a command; a suspended one is not waited for.
 */
export function createOwnerTimeouts(now = () => performance.now()): (owner: Owner) => boolean {
  const met = new Map<number | null, number>()
  return (owner) => {
    const key = owner?.pid ?? null
    const since = met.get(key) ?? now()
    met.set(key, since)
    if (owner?.stopped === true) return false
    return now() - since < (isService(owner) ? SERVICE_MS : COMMAND_MS)
  }
}
