import styles from "./Artifacts.module.css";

/** Holds room for a picture that is waited for. */
export function PictureRoom() {
  return <div className={styles["pictureRoom"]} aria-busy="true" />;
}
