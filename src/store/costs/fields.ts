/** The stored fields of a cost. */

export interface CostFields {
  /** `cost` or `income`. */
  kind: string;
  name: string;
  url: string;
  type: string;
  product_type: string;
  license_type: string;
  cost_status: string;
  payment_method: string;
  /** Decimal text. */
  price: string;
  renewal_type: string | null;
  /** `YYYY-MM-DD`. */
  last_renewal: string | null;
  note: string;
}
