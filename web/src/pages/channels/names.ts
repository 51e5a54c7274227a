import type { useI18n } from 'vue-i18n'
import type { SupplierOption } from '@/protocol'

/** Suppliers are called by their own names, in both languages; what is only described is translated. */
export function supplierName(
  supplier: Pick<SupplierOption, 'id' | 'label'>,
  t: ReturnType<typeof useI18n>['t'],
): string {
  return supplier.id === 'compatible' || supplier.id === 'demo' ? t(`welcome.supplier.${supplier.id}`) : supplier.label
}
