/**
 * Numbers that look random and are the same for the same seed (mulberry32).
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed >>> 0
  /** From 0 to 1, without 1. */
  function next() {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** @param {number} count */
  const below = (count) => Math.floor(next() * count)
  const hex = () => below(16).toString(16)
  return {
    below,
    /** @template T @param {readonly T[]} items @returns {T} */
    pick: (items) => /** @type {T} */ (items[below(items.length)]),
    uuid: () =>
      'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (letter) =>
        letter === 'x' ? hex() : (8 + below(4)).toString(16),
      ),
  }
}

/** @typedef {ReturnType<typeof createRandom>} Random */
