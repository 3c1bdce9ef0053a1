/** Rounded. What is not known stays so. */
export function twoDecimals(value: number): number;
export function twoDecimals(value: number | null | undefined): number | null;
export function twoDecimals(value: number | null | undefined): number | null {
  return typeof value === 'number' ? Math.round(100 * value) / 100 : null;
}
