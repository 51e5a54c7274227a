import type { CompactionError } from '@/protocol'

/** Not a failure: there was nothing to do, or a user stopped it. The snapshot does not contain these. */
export function answersWish({ fault }: CompactionError): boolean {
  return fault === 'nothing_to_compress' || fault === 'cancelled'
}
