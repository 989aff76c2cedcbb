{{- define "waybill.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "waybill.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "waybill.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "waybill.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "waybill.selector" -}}
app.kubernetes.io/name: {{ include "waybill.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waybill.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "waybill.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "waybill.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "waybill.fullname" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "waybill.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end }}
{{- end }}

{{/* Not empty where the database is somebody else's. */}}
{{- define "waybill.external" -}}
{{- if or .Values.database.url .Values.database.existingSecret }}true{{ end }}
{{- end }}

{{/* Says what cannot work before anything is changed. */}}
{{- define "waybill.mistakes" -}}
{{- if and .Values.database.url .Values.database.existingSecret }}
{{- fail "database.url and database.existingSecret are both set: give one" }}
{{- end }}
{{- if include "waybill.external" . }}
{{- if not .Values.secretKey.existingSecret }}
{{- fail "secretKey.existingSecret is needed with an external database: what is sealed there can be read with this key alone. kubectl create secret generic waybill-key --from-literal=secret-key=\"$(openssl rand -hex 32)\"" }}
{{- end }}
{{- if not .Values.evidence.s3.bucket }}
{{- fail "evidence.s3.bucket is needed with an external database: files in a pod are that pod's alone and go with it, and the next one would not start without them" }}
{{- end }}
{{- end }}
{{- if and .Values.evidence.s3.bucket (not .Values.evidence.s3.existingSecret) }}
{{- fail "evidence.s3.existingSecret is needed with evidence.s3.bucket" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.existingSecret) }}
{{- fail "metrics.existingSecret is needed with metrics.serviceMonitor.enabled: without a token only the pod itself may read /metrics" }}
{{- end }}
{{- if and .Values.backup.enabled (not (include "waybill.external" .)) }}
{{- fail "backup.enabled is for external databases: a pod with a PostgreSQL of its own makes backups itself, see WAYBILL_BACKUP_TO" }}
{{- end }}
{{- end }}

{{/* A setting as the program reads it. Numbers of a file of values are floats, which from a million on would be written with an exponent. */}}
{{- define "waybill.setting" -}}
{{- if and (kindIs "float64" .) (eq (toString .) (toString (floor .))) }}{{ int64 . }}{{ else }}{{ . | toString }}{{ end }}
{{- end }}

{{/* What every container of the program is told. */}}
{{- define "waybill.env" -}}
- name: WAYBILL_DATA_DIR
  value: /var/lib/waybill
{{- with .Values.publicUrl }}
- name: WAYBILL_PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- if .Values.database.existingSecret }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret }}
      key: url
- name: DATABASE_READ_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret }}
      key: read-url
      optional: true
{{- else if .Values.database.url }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "waybill.fullname" . }}-database
      key: url
{{- if .Values.database.readUrl }}
- name: DATABASE_READ_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "waybill.fullname" . }}-database
      key: read-url
{{- end }}
{{- end }}
{{- with .Values.secretKey.existingSecret }}
- name: WAYBILL_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: secret-key
{{- end }}
{{- with .Values.evidence.s3 }}
{{- if .bucket }}
- name: WAYBILL_EVIDENCE_S3_BUCKET
  value: {{ .bucket | quote }}
- name: WAYBILL_EVIDENCE_S3_REGION
  value: {{ .region | quote }}
{{- with .endpoint }}
- name: WAYBILL_EVIDENCE_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .prefix }}
- name: WAYBILL_EVIDENCE_S3_PREFIX
  value: {{ . | quote }}
{{- end }}
- name: WAYBILL_EVIDENCE_S3_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: access-key
- name: WAYBILL_EVIDENCE_S3_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: secret-key
{{- end }}
{{- end }}
{{- with .Values.metrics.existingSecret }}
- name: WAYBILL_METRICS_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: token
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ include "waybill.setting" $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "waybill.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "waybill.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Which nodes every pod of the program may run on. */}}
{{- define "waybill.nodes" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The pod of the server, of either shape. */}}
{{- define "waybill.pod" -}}
metadata:
  labels:
    {{- include "waybill.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- if .Values.database.url }}
    checksum/database: {{ printf "%s %s" .Values.database.url .Values.database.readUrl | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "waybill.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "waybill.podSecurity" . | nindent 4 }}
  {{- include "waybill.nodes" . | nindent 2 }}
  {{- if include "waybill.external" . }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "waybill.selector" . | nindent 10 }}
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "waybill.selector" . | nindent 10 }}
  {{- end }}
  containers:
    - name: waybill
      image: {{ include "waybill.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      securityContext:
        {{- include "waybill.containerSecurity" . | nindent 8 }}
      env:
        - name: HOST
          value: 0.0.0.0
        - name: PORT
          value: "8001"
        - name: WAYBILL_DRAIN_SECONDS
          value: {{ .Values.drainSeconds | quote }}
        {{- include "waybill.env" . | nindent 8 }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: http
          containerPort: 8001
      # Recovery, backups before migrations, these, and the move to another PostgreSQL come before the port is open.
      startupProbe:
        httpGet: {path: /live, port: http}
        periodSeconds: 2
        failureThreshold: {{ div .Values.startupSeconds 2 }}
      livenessProbe:
        httpGet: {path: /live, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /ready, port: http}
        periodSeconds: 2
        timeoutSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/waybill}
        - {name: tmp, mountPath: /tmp}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if include "waybill.external" . }}
    - name: data
      emptyDir: {}
    {{- else if .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim }}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
